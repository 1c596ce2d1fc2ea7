// SPDX-License-Identifier: Apache-2.0
// Everything is an active message that UCX sends at once ("eager"). A rendezvous would wait for the receiver, and so a
// message would need more than its slot. UCX keeps the order of such messages if it sends them over one lane.
//
// A flush of UCX is of no use here: over TCP, it waits until the receiver makes progress, and the receiver may have
// returned from its call. So UCX gets all data as vectors without copying it ("zcopy"). Then a send completes when the
// system has the data, and all data that was sent before on the connection.
#include "ucx/Wire.h"

#include "ucx/Library.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace gc3::ucx {

using core::Outcome;
using core::Result;
using host::HeaderImage;
using host::WireHeader;

namespace {

constexpr unsigned messageId = 1; ///< of the only kind of active messages
constexpr int mostEventsAtOnce = 64;
constexpr std::chrono::seconds longestClose{1};

class UcxWire final : public host::Wire {
public:
  explicit UcxWire(const Library &loaded) : ucx(loaded) {}
  ~UcxWire() override;
  Outcome open();

  Bytes address() const override { return ownAddress; }
  Outcome connect(uint32_t process, Bytes address) override;
  void send(uint32_t process, const WireHeader &header, Bytes data) override;
  void sendInPlace(uint32_t process, const WireHeader &header, Bytes data, uint64_t &completed) override;
  bool progress(Receiver &receiver) override;
  void beginFlush() override;
  bool isFlushed() const override;
  bool arm() override { return ucx.arm(worker) == UCS_OK; }
  int event() const override { return descriptor; }
  void close() override;

private:
  struct Peer {
    ucp_ep_h endpoint = nullptr;
    ucs_status_t status = UCS_OK;
    bool isLossReported = false;
    uint64_t sent = 0, completed = 0; ///< numbers of sends
    uint64_t flushing = 0;            ///< value of `sent` at the begin of the last flush
  };
  /// What UCX reads until a send has completed.
  struct Pending {
    UcxWire *wire = nullptr;
    Peer *peer = nullptr;
    HeaderImage header;
    std::vector<std::byte> copy;
    ucp_dt_iov_t data{};
    uint64_t *completed = nullptr; ///< null: the data is `copy`
  };

  static void handleError(void *peer, ucp_ep_h endpoint, ucs_status_t status);
  static void handleSent(void *request, ucs_status_t status, void *pending);
  static ucs_status_t handleArrival(void *wire, const void *header, size_t headerBytes, void *data, size_t dataBytes,
                                    const ucp_am_recv_param_t *param);
  Outcome check(ucs_status_t status, const char *what) const;
  Outcome init();
  Outcome openWorker();
  Pending *newPending(const WireHeader &header);
  void finish(Pending *pending);
  void post(uint32_t process, Pending *pending, Bytes data);
  void reportLosses(Receiver &receiver);
  void awaitEnd(ucs_status_ptr_t request);

  const Library &ucx;
  ucp_context_h context = nullptr;
  ucp_worker_h worker = nullptr;
  std::vector<std::byte> ownAddress;
  int descriptor = -1;
  std::map<uint32_t, Peer> peers; ///< by the lowest rank of the process
  std::vector<std::unique_ptr<Pending>> pendings;
  std::vector<Pending *> unused;
  Receiver *current = nullptr; ///< during progress()
  bool hasArrived = false;
};

Outcome UcxWire::check(ucs_status_t status, const char *what) const {
  if (status == UCS_OK)
    return {};
  return {gc3SystemError, std::string("UCX ") + what + ": " + ucx.describe(status)};
}

Outcome UcxWire::open() {
  if (Outcome outcome = init(); !outcome.ok())
    return outcome;
  return openWorker();
}

Outcome UcxWire::init() {
  ucp_config_t *config = nullptr;
  if (Outcome outcome = check(ucx.readConfig(nullptr, nullptr, &config), "can't read its settings"); !outcome.ok())
    return outcome;
  // With several lanes, a message could overtake another one.
  ucs_status_t status = ucx.modifyConfig(config, "MAX_EAGER_LANES", "1");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  if (status == UCS_OK)
    status = ucx.modifyConfig(config, "ZCOPY_THRESH", "0");
  if (status == UCS_OK)
    status = ucx.init(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context);
  ucx.releaseConfig(config);
  return check(status, "finds no network");
}

Outcome UcxWire::openWorker() {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  if (Outcome outcome = check(ucx.createWorker(context, &params, &worker), "can't create a worker"); !outcome.ok())
    return outcome;
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = messageId;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG;
  handler.cb = handleArrival;
  handler.arg = this;
  if (Outcome outcome = check(ucx.setHandler(worker, &handler), "can't receive"); !outcome.ok())
    return outcome;
  if (Outcome outcome = check(ucx.getEvent(worker, &descriptor), "can't wait"); !outcome.ok())
    return outcome;
  ucp_address_t *address = nullptr;
  size_t bytes = 0;
  if (Outcome outcome = check(ucx.getAddress(worker, &address, &bytes), "has no address"); !outcome.ok())
    return outcome;
  const auto *begin = reinterpret_cast<const std::byte *>(address);
  ownAddress.assign(begin, begin + bytes);
  ucx.releaseAddress(worker, address);
  return {};
}

UcxWire::~UcxWire() {
  close();
  if (context)
    ucx.cleanUp(context);
}

Outcome UcxWire::connect(uint32_t process, Bytes address) {
  Peer &peer = peers[process];
  ucp_ep_params_t params{};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t *>(address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {handleError, &peer};
  return check(ucx.connect(worker, &params, &peer.endpoint), "can't connect");
}

void UcxWire::handleError(void *peer, ucp_ep_h, ucs_status_t status) {
  static_cast<Peer *>(peer)->status = status;
}

UcxWire::Pending *UcxWire::newPending(const WireHeader &header) {
  if (unused.empty())
    unused.push_back(pendings.emplace_back(new Pending).get());
  Pending *const pending = unused.back();
  unused.pop_back();
  pending->wire = this;
  pending->header = host::writeHeader(header);
  pending->completed = nullptr;
  return pending;
}

void UcxWire::finish(Pending *pending) {
  if (pending->completed)
    ++*pending->completed;
  ++pending->peer->completed;
  unused.push_back(pending);
}

void UcxWire::handleSent(void *request, ucs_status_t, void *pending) {
  Pending *const sent = static_cast<Pending *>(pending);
  UcxWire &wire = *sent->wire;
  wire.finish(sent);
  wire.ucx.freeRequest(request);
}

/// An error of a send is also an error of the connection, which handleError() gets.
void UcxWire::post(uint32_t process, Pending *pending, Bytes data) {
  pending->peer = &peers[process];
  pending->data = {const_cast<std::byte *>(data.data()), data.size()};
  ++pending->peer->sent;
  if (!pending->peer->endpoint)
    return finish(pending); // there is no connection, because connect() has failed
  ucp_request_param_t param{};
  param.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_DATATYPE;
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  param.cb.send = handleSent;
  param.user_data = pending;
  param.datatype = ucp_dt_make_iov();
  const ucs_status_ptr_t request =
      ucx.send(pending->peer->endpoint, messageId, &pending->header, sizeof pending->header, &pending->data, 1, &param);
  if (!UCS_PTR_IS_PTR(request))
    finish(pending);
}

/// UCX copies data without bytes, so such data gets one. It belongs to headers whose receivers ignore data.
void UcxWire::send(uint32_t process, const WireHeader &header, Bytes data) {
  Pending *const pending = newPending(header);
  pending->copy.assign(data.begin(), data.end());
  if (data.empty())
    pending->copy.resize(1);
  post(process, pending, pending->copy);
}

void UcxWire::sendInPlace(uint32_t process, const WireHeader &header, Bytes data, uint64_t &completed) {
  Pending *const pending = newPending(header);
  pending->completed = &completed;
  post(process, pending, data);
}

ucs_status_t UcxWire::handleArrival(void *wire, const void *header, size_t headerBytes, void *data, size_t dataBytes,
                                    const ucp_am_recv_param_t *param) {
  UcxWire &self = *static_cast<UcxWire *>(wire);
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0)
    return UCS_OK; // from a stranger: gc3 sends everything at once
  self.hasArrived = true;
  if (self.current)
    self.current->receive({static_cast<const std::byte *>(header), headerBytes},
                          {static_cast<const std::byte *>(data), dataBytes});
  return UCS_OK;
}

bool UcxWire::progress(Receiver &receiver) {
  current = &receiver;
  hasArrived = false;
  for (int events = 0; events < mostEventsAtOnce && ucx.progress(worker) != 0; ++events)
    ;
  current = nullptr;
  reportLosses(receiver);
  return hasArrived;
}

void UcxWire::reportLosses(Receiver &receiver) {
  for (auto &[process, peer] : peers)
    if (peer.status != UCS_OK && !peer.isLossReported) {
      peer.isLossReported = true;
      receiver.lose(process, ucx.describe(peer.status));
    }
}

void UcxWire::beginFlush() {
  for (auto &[process, peer] : peers)
    peer.flushing = peer.sent;
}

/// The sends of a connection complete in their order.
bool UcxWire::isFlushed() const {
  return std::all_of(peers.begin(), peers.end(),
                     [](const auto &entry) { return entry.second.completed >= entry.second.flushing; });
}

/// Waits until a request of close() has ended. UCX ends these requests at once; the limit is for errors in UCX.
void UcxWire::awaitEnd(ucs_status_ptr_t request) {
  if (!UCS_PTR_IS_PTR(request))
    return;
  const auto deadline = std::chrono::steady_clock::now() + longestClose;
  while (ucx.statusOf(request) == UCS_INPROGRESS && std::chrono::steady_clock::now() < deadline)
    ucx.progress(worker);
  ucx.freeRequest(request);
}

void UcxWire::close() {
  if (!worker)
    return;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  for (auto &[process, peer] : peers)
    if (peer.endpoint)
      awaitEnd(ucx.closeConnection(peer.endpoint, &param));
  ucx.destroyWorker(worker);
  worker = nullptr;
}

} // namespace

Result<std::unique_ptr<host::Wire>> openWire() {
  const Result<Library> &loaded = library();
  if (!loaded.ok())
    return loaded.outcome();
  auto wire = std::make_unique<UcxWire>(*loaded);
  if (Outcome outcome = wire->open(); !outcome.ok())
    return outcome;
  return std::unique_ptr<host::Wire>(std::move(wire));
}

} // namespace gc3::ucx
