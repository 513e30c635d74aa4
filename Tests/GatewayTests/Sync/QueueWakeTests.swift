import Model
import Storage
import Testing

@testable import Gateway

/// A device's listener can distinguish changes of its queue from changes of its data.
struct QueueWakeTests {
  private static func commit(_ type: String, in scopes: Scope...) -> CommitReport {
    CommitReport(
      revision: Revision(1),
      changes: scopes.map { .init(scope: $0, key: EntityKey(type: type, key: "1")) },
      invalidated: [], resultChanged: false, isExact: true, head: Revision(1))
  }

  @Test("Only a change of the device's queue wakes with the queue reason")
  func onlyQueueChangesWakeForQueue() async {
    let signal = CommitSignal { _ in
      try await ContinuousClock().sleep(until: .now + .seconds(3600))
    }
    let mine = signal.listen(as: Viewer(layers: [.device("d"), .public]))
    let other = signal.listen(as: Viewer(layers: [.device("e"), .public]))
    signal.note(Self.commit("Film", in: .public))
    #expect(await mine.next() == .commit)
    #expect(await other.next() == .commit)
    signal.note(Self.commit(QueueTypes.outcome, in: .device("d")))
    #expect(await mine.next() == [.commit, .queue])
    signal.note(Self.commit("Film", in: .device("d")))
    #expect(await mine.next() == .commit)
    signal.end()
    #expect(await other.next() == .end)
  }
}
