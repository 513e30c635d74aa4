package import Model

/// One client's live query: the response, and a new one whenever its content has changed.
///
/// The rendered response itself wakes the stream when a commit, an invalidation or a newer response
/// makes it outdated. The next read is shared by all streams of the same result; without a
/// difference nothing is sent. Passing time alone triggers nothing: upstream is called only if the
/// store says that the result is due for a refetch.
package final class OperationStream: EventSource {
  /// The start of a stream: a read that has been made once, so that its failure is an HTTP response.
  package struct Start: Sendable {
    let request: ReadRequest
    /// The tag of the response that the client has.
    let knownTag: String?
  }

  private let reader: QueryReader
  private let devices: DeviceRegistry
  private let request: ReadRequest
  private let signal: CommitSignal
  private let listener: ChangeListener
  /// Called with each response before it is sent to a device.
  private let note: @Sendable (ReadResponse, ReadRequest) async -> Void
  private var watched: RenderedResponse?
  /// The version of the device's overlays when the response was read.
  private var overlayVersion: UInt64 = 0
  private var sentTag: String?
  private var mustRead = true
  private var isAdmitted = false

  init(
    reader: QueryReader, devices: DeviceRegistry, signal: CommitSignal, start: Start,
    note: @escaping @Sendable (ReadResponse, ReadRequest) async -> Void
  ) {
    self.note = note
    self.reader = reader
    self.devices = devices
    self.signal = signal
    request = start.request
    sentTag = start.knownTag
    let device = request.caller.device?.id
    listener = signal.listen(
      as: device.map(request.viewer(overlaidBy:)) ?? request.sharedViewer,
      device: request.caller.revocableID, user: request.caller.user,
      lifetime: devices.lifetime(of: request.caller), wantsHeartbeats: true, result: request.key)
  }

  deinit {
    watched?.unwatch(listener)
    signal.remove(listener)
  }

  /// An update of a stream, for clients of any protocol.
  package enum Update: Sendable {
    case response(RenderedResponse)
    /// Nothing has changed for a while.
    case heartbeat
  }

  package func next() async throws(Failure) -> [UInt8]? {
    switch try await nextUpdate() {
    case .response(let rendered): frame(for: rendered)
    case .heartbeat: EventFrame.comment
    case nil: nil
    }
  }

  /// Waits for the next update; nil when the stream ends.
  package func nextUpdate() async throws(Failure) -> Update? {
    if !isAdmitted {
      // Checked again after registering: a revocation in between would not end the listener.
      try await devices.confirm(request.caller)
      isAdmitted = true
    }
    while true {
      if listener.hasEnded { return nil }
      if mustRead {
        mustRead = false
        guard let reading = await read() else { return nil }
        if case .response(let response) = reading, response.rendered.tag != sentTag {
          if request.caller.device != nil { await note(response, request) }
          sentTag = response.rendered.tag
          return .response(response.rendered)
        }
      }
      let wakes = await listener.next()
      if wakes.contains(.end) { return nil }
      mustRead = wakes.contains(.commit) && mayDiffer
      if wakes.contains(.heartbeat) { return .heartbeat }
    }
  }

  /// Whether the response can have changed. A response in memory knows when it is outdated, unless
  /// an overlay was added to an entity without one; any other can change with every commit.
  private var mayDiffer: Bool {
    !(watched?.isCurrent ?? false)
      || reader.overlayVersion(for: request.caller) != overlayVersion
  }

  private enum Reading {
    case response(ReadResponse)
    /// Upstream failed and there is no fallback: the client keeps its current response.
    case nothing
  }

  /// Reads the query; nil if the caller may no longer see it.
  private func read() async -> Reading? {
    do throws(Failure) {
      overlayVersion = reader.overlayVersion(for: request.caller)
      let response = try await reader.read(request.fromStore)
      watched?.unwatch(listener)
      watched = response.rendered.watch(listener) ? response.rendered : nil
      return .response(response)
    } catch {
      switch error.code {
      case .upstreamUnauthenticated, .upstreamForbidden, .unauthenticated, .forbidden: return nil
      default: return .nothing
      }
    }
  }

  private func frame(for rendered: RenderedResponse) -> [UInt8] {
    var frame: [UInt8] = []
    EventFrame.append(id: rendered.tag, event: nil, data: rendered.body, to: &frame)
    return frame
  }
}

extension ReadRequest {
  /// The same read, served from the store at any age unless a refetch is due.
  fileprivate var fromStore: ReadRequest {
    ReadRequest(
      operation: operation, variables: variables, caller: caller,
      directives: ReadDirectives(maxStale: .any))
  }
}
