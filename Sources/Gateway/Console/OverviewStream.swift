package import Model

/// A stream of the service's overview: at once, and then every five seconds with the steps since the event
/// before. It ends with the caller's session, and when the service drains.
package final class OverviewStream: EventSource {
  package static let interval = Duration.seconds(5)

  private let overview: ServiceOverview
  private let signal: CommitSignal
  private let listener: ChangeListener
  private let render: @Sendable (ServiceOverview.Snapshot) -> [UInt8]
  private var isFirst = true
  /// The time of the last point that was sent.
  private var sent: Timestamp?

  /// - Parameter render: makes the data of an event.
  package init(
    overview: ServiceOverview, caller: Caller, devices: DeviceRegistry, signal: CommitSignal,
    render: @escaping @Sendable (ServiceOverview.Snapshot) -> [UInt8]
  ) {
    self.overview = overview
    self.signal = signal
    self.render = render
    listener = signal.listen(
      as: Viewer(layers: []), device: caller.revocableID, lifetime: devices.lifetime(of: caller))
  }

  deinit { signal.remove(listener) }

  package func next() async throws(Failure) -> [UInt8]? {
    if !isFirst, await hasEnded(after: Self.interval) { return nil }
    isFirst = false
    let snapshot = await overview.snapshot(after: sent)
    sent = snapshot.points.last?.time ?? sent
    var frame: [UInt8] = []
    EventFrame.append(id: nil, event: "overview", data: render(snapshot), to: &frame)
    return frame
  }

  /// Waits for the time of the next event.
  ///
  /// - Returns: whether the stream ends instead.
  private func hasEnded(after wait: Duration) async -> Bool {
    if listener.hasEnded { return true }
    let alarm = signal.alarm(listener, after: wait)
    defer { alarm.cancel() }
    while true {
      let wakes = await listener.next()
      if wakes.contains(.end) { return true }
      if wakes.contains(.alarm) { return false }
    }
  }
}
