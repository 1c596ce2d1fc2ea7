// The time that the page shows, from 0 to the number of ticks of the program, and its animation.

const SPEEDS = [0.5, 1, 2, 4, 8, 16, 32];

class Player {
  constructor(ticks, onChange) {
    this.ticks = ticks;
    this.onChange = onChange;
    this.time = 0;
    this.shown = 0; // the time that is shown; always a whole tick if the user prefers reduced motion
    this.goal = null; // the time to which the player is moving, or null
    this.speed = SPEEDS.find((speed) => ticks / speed <= 16) ?? SPEEDS.at(-1);
    this.stepping = false;
    this.still = window.matchMedia('(prefers-reduced-motion: reduce)');
  }

  get playing() {
    return this.goal !== null && !this.stepping;
  }

  /// Sets the time without animation.
  seek(time) {
    this.goal = null;
    this.set(time);
  }

  toggle() {
    if (this.playing) {
      this.goal = null;
      this.onChange();
      return;
    }
    if (this.time >= this.ticks)
      this.time = 0;
    this.travel(this.ticks, false);
  }

  /// Moves one tick forward with animation, or one tick back immediately.
  step(by) {
    const from = this.stepping ? this.goal ?? this.time : this.time;
    const to = Math.max(0, Math.min(this.ticks, by > 0 ? Math.floor(from) + 1 : Math.ceil(from) - 1));
    if (by < 0 || this.still.matches)
      this.seek(to);
    else
      this.travel(to, true);
  }

  travel(goal, stepping) {
    this.goal = goal;
    this.stepping = stepping;
    this.last = undefined;
    this.onChange();
    this.askForFrame();
  }

  /// Requests at most one frame at a time, even if the user stops and continues between two frames.
  askForFrame() {
    this.request ??= requestAnimationFrame((now) => {
      this.request = undefined;
      if (this.goal !== null)
        this.frame(now);
    });
  }

  frame(now) {
    const seconds = this.last === undefined ? 0 : Math.min(0.1, (now - this.last) / 1000);
    this.last = now;
    const time = Math.min(this.goal, this.time + seconds * (this.stepping ? Math.max(2.5, this.speed) : this.speed));
    if (time >= this.goal)
      this.goal = null;
    this.set(this.still.matches ? Math.floor(time) : time, time);
    this.askForFrame();
  }

  set(shown, exact = shown) {
    this.shown = Math.max(0, Math.min(this.ticks, shown));
    this.time = Math.max(0, Math.min(this.ticks, exact));
    this.onChange();
  }

  faster(by) {
    const index = SPEEDS.indexOf(this.speed) + by;
    this.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, index))];
    this.onChange();
  }
}
