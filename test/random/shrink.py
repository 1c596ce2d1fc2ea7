# SPDX-License-Identifier: Apache-2.0
"""Reduces a program as long as the same check fails. Removes statements, first large runs and then single ones.
Replaces blocks and loops by their contents. Removes directives, settings and promises. The reduced program promises
what it computes, so it is valid."""
import dataclasses

from program import Block, Invalid, Operation, Repeat


def shrink(program, still_fails, attempts=1000):
    """Returns the smallest program found. Calls `still_fails` for valid programs only, at most `attempts` times."""
    return Shrinker(program, still_fails, attempts).run()


class Shrinker:
    def __init__(self, program, still_fails, attempts):
        self.program = program
        self.still_fails = still_fails
        self.attempts = attempts

    def run(self):
        self.keep_if_fails(self.program.customized())
        before = None
        while before != self.program and self.attempts > 0:
            before = self.program
            self.drop(lambda: self.program.body, lambda body: {"body": body})
            self.simplify(())
            self.drop(lambda: tuple(self.program.promise()), self.promising)
            for setting in ({"instances": 1}, {"protocol": "Simple"}):
                self.keep_if_fails(dataclasses.replace(self.program, **setting))
        return self.program

    def keep_if_fails(self, candidate):
        if candidate == self.program or self.attempts == 0:
            return False
        try:
            candidate.check()
        except Invalid:
            return False
        self.attempts -= 1
        if self.still_fails(candidate):
            self.program = candidate
            return True
        return False

    def promising(self, places):
        """Returns the settings that limit promises to these output chunks."""
        return {"unpromised": self.program.unpromised | (set(self.program.promise()) - set(places))}

    def drop(self, items, change):
        """Removes as many items as possible: large runs first, and from the end, because reads come after writes."""
        size = len(items())
        while size >= 1:
            end = len(items())
            while end > 0:
                begin = max(0, end - size)
                fewer = items()[:begin] + items()[end:]
                self.keep_if_fails(dataclasses.replace(self.program, **change(fewer)))
                end = begin
            size //= 2

    def simplify(self, path):
        """Replaces statements of the body at the path by simpler ones, also in nested bodies."""
        for i in reversed(range(len(body_at(self.program.body, path)))):
            replaced = True
            while replaced:
                statement = body_at(self.program.body, path)[i]
                replaced = any(self.replace(path, i, simpler) for simpler in simpler_statements(statement))
            if i < len(body_at(self.program.body, path)) and hasattr(body_at(self.program.body, path)[i], "body"):
                self.simplify(path + (i,))

    def replace(self, path, i, statements):
        body = body_at(self.program.body, path)
        body = with_body(self.program.body, path, body[:i] + statements + body[i + 1 :])
        return bool(statements) and self.keep_if_fails(dataclasses.replace(self.program, body=body))


def simpler_statements(statement):
    """Yields simpler replacements for the statement."""
    if isinstance(statement, Operation):
        changes = [{"directives": ()}, {"spelling": "plain"}, {"count": 1}]
        yield from ((dataclasses.replace(statement, **change),) for change in changes)
    else:
        for part in range(len(statement.body) if len(statement.body) > 1 else 0):
            body = statement.body[:part] + statement.body[part + 1 :]
            yield (dataclasses.replace(statement, body=body),)
    if isinstance(statement, Block):
        yield statement.body
    if isinstance(statement, Repeat) and len(statement.values) > 1:
        for value in statement.values:
            yield (dataclasses.replace(statement, values=(value,)),)


def body_at(body, path):
    for i in path:
        body = body[i].body
    return body


def with_body(body, path, inner):
    if not path:
        return inner
    statement = dataclasses.replace(body[path[0]], body=with_body(body[path[0]].body, path[1:], inner))
    return body[: path[0]] + (statement,) + body[path[0] + 1 :]
