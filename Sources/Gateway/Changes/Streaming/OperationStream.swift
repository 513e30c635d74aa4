package import Model

/// One client's live query: the answer, and the answer again whenever what it shows has changed.
///
/// The rendered answer itself wakes it when a commit, an invalidation or a newer answer makes it
/// wrong. What is then read is shared by all who watch the same; where nothing is different, nothing
/// is sent. Time alone brings nothing new: upstream is asked where the store says that the answer
/// is due.
package final class OperationStream: EventSource {
  /// Where a stream begins: a read that has been made once, so that its failure is an answer.
  package struct Start: Sendable {
    let request: ReadRequest
    /// The tag of the answer that the client has.
    let told: String?
  }

  private let reader: QueryReader
  private let devices: DeviceRegistry
  private let request: ReadRequest
  private let signal: CommitSignal
  private let listener: ChangeListener
  /// Told of each answer that a device is about to be sent.
  private let note: @Sendable (ReadResponse, ReadRequest) async -> Void
  private var watched: RenderedResponse?
  /// Of the device's overlays when the answer was read.
  private var overlayVersion: UInt64 = 0
  private var toldTag: String?
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
    toldTag = start.told
    let device = request.caller.device?.id
    listener = signal.listen(
      as: device.map(request.viewer(overlaidBy:)) ?? request.sharedViewer, device: device,
      lifetime: devices.lifetime(of: request.caller), hearsBeats: true, answer: request.key)
  }

  deinit {
    watched?.unwatch(listener)
    signal.remove(listener)
  }

  package func next() async throws(Failure) -> [UInt8]? {
    if !isAdmitted {
      // Asked again after registering: who went in between would not be told of it.
      try await devices.confirm(request.caller)
      isAdmitted = true
    }
    while true {
      if listener.hasEnded { return nil }
      if mustRead {
        mustRead = false
        guard let reading = await read() else { return nil }
        if case .answer(let answer) = reading, answer.rendered.tag != toldTag {
          if request.caller.device != nil { await note(answer, request) }
          return frame(for: answer.rendered)
        }
      }
      let wakes = await listener.next()
      if wakes.contains(.end) { return nil }
      mustRead = wakes.contains(.commit) && mayDiffer
      if wakes.contains(.beat) { return EventFrame.comment }
    }
  }

  /// An answer in memory says itself when it is wrong, unless an overlay has come over what had
  /// none; any other may be after any commit.
  private var mayDiffer: Bool {
    !(watched?.isCurrent ?? false)
      || reader.overlayVersion(for: request.caller) != overlayVersion
  }

  private enum Reading {
    case answer(ReadResponse)
    /// Upstream fails and nothing may stand in: the client keeps what it has.
    case nothing
  }

  /// Nil where the caller may not see it any more.
  private func read() async -> Reading? {
    do throws(Failure) {
      overlayVersion = reader.overlayVersion(for: request.caller)
      let answer = try await reader.read(request.fromStore)
      watched?.unwatch(listener)
      watched = answer.rendered.watch(listener) ? answer.rendered : nil
      return .answer(answer)
    } catch {
      switch error.code {
      case .upstreamUnauthenticated, .upstreamForbidden, .unauthenticated, .forbidden: return nil
      default: return .nothing
      }
    }
  }

  private func frame(for rendered: RenderedResponse) -> [UInt8] {
    toldTag = rendered.tag
    var frame: [UInt8] = []
    EventFrame.append(id: rendered.tag, event: nil, data: rendered.body, to: &frame)
    return frame
  }
}

extension ReadRequest {
  /// The same read, served from the store whatever its age unless it is due.
  fileprivate var fromStore: ReadRequest {
    ReadRequest(
      operation: operation, variables: variables, caller: caller,
      directives: ReadDirectives(maxStale: .any), traceparent: nil)
  }
}
