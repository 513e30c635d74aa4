import Metrics
import Model
import Synchronization

/// The number of followed lists and their memory, in total and by owner, under limits.
///
/// Three kinds of bytes are counted: those that a diff needs (keys, revisions, positions), which a list has
/// as long as it is followed; documents, which a list is kept without if there is no room; and what streams
/// hold: the subjects of live streams, and events that wait for their client. A new list is refused beyond a
/// limit; nothing that is followed is removed for it.
///
/// The sizes are estimates of what the process uses, see ``FollowedList/byteCount``.
package final class ListLedger: Sendable {
  package static let defaultBytesMax = 64 << 20
  /// Maximum lists. Unauthenticated callers leave half of them to others.
  static let listsMax = 10_000
  /// Maximum lists of all unauthenticated callers of one network.
  static let listsOfNetworkMax = 2_500
  /// Maximum lists of one device or user.
  static let listsOfOneMax = 1_000

  /// What one list, or one stream, has.
  struct Bytes: Equatable {
    /// What a diff needs.
    var rows = 0
    var documents = 0
    /// Events that wait for their client, and subjects.
    var events = 0

    var sum: Int { rows + documents + events }

    static func + (left: Bytes, right: Bytes) -> Bytes {
      Bytes(
        rows: left.rows + right.rows, documents: left.documents + right.documents,
        events: left.events + right.events)
    }

    static func - (left: Bytes, right: Bytes) -> Bytes {
      Bytes(
        rows: left.rows - right.rows, documents: left.documents - right.documents,
        events: left.events - right.events)
    }
  }

  private struct Account {
    var lists = 0
    var bytes = Bytes()
  }

  private struct State {
    var all = Account()
    /// The lists of networks.
    var unknownLists = 0
    var accounts: [CallerOwner: Account] = [:]
  }

  private let bytesMax: Int
  private let state = Mutex(State())
  private let listGauge = Gauge(label: "larder.lists")
  private let byteGauge = Gauge(label: "larder.list.memory.bytes")
  private let refusals = Counter(label: "larder.list.refusals")

  /// - Parameter bytesMax: the bytes of all lists together. Of these a network has at most half and a user
  ///   or a device a quarter; documents take at most half of each.
  package init(bytesMax: Int = ListLedger.defaultBytesMax) {
    self.bytesMax = bytesMax
  }

  /// The bytes of all lists and of the events that wait.
  package var byteCount: Int { state.withLock { $0.all.bytes.sum } }
  /// The bytes and lists of one owner.
  func account(of owner: CallerOwner) -> (lists: Int, bytes: Bytes) {
    state.withLock { state in
      let account = state.accounts[owner] ?? Account()
      return (account.lists, account.bytes)
    }
  }

  // MARK: Lists

  /// Counts a new list.
  ///
  /// - Parameter bytes: what it has before it is read.
  /// - Throws: ``Failure/Code/overloaded`` if there is no room for it.
  func add(_ bytes: Bytes, of owner: CallerOwner) throws(Failure) {
    let reason: String? = state.withLock { state in
      let own = state.accounts[owner]?.lists ?? 0
      if own >= (owner.isNetwork ? Self.listsOfNetworkMax : Self.listsOfOneMax) {
        return "\(owner.isNetwork ? "Your network follows" : "You follow") too many different lists"
      }
      guard state.all.lists < Self.listsMax,
        !owner.isNetwork || state.unknownLists < Self.listsMax / 2
      else { return "Too many different lists are followed" }
      if let refusal = refusal(bytes, owner, state) { return refusal }
      state.all.lists += 1
      if owner.isNetwork { state.unknownLists += 1 }
      state.accounts[owner, default: Account()].lists += 1
      change(by: bytes, owner, &state)
      return nil
    }
    if let reason { throw refused(reason) }
  }

  /// Ends the count of a list.
  func remove(_ bytes: Bytes, of owner: CallerOwner) {
    state.withLock { state in
      state.all.lists -= 1
      if owner.isNetwork { state.unknownLists -= 1 }
      state.accounts[owner]?.lists -= 1
      change(by: Bytes() - bytes, owner, &state)
    }
  }

  /// Counts a list for another owner who follows it too; the limits do not apply, since nothing is added.
  func move(_ bytes: Bytes, from owner: CallerOwner, to other: CallerOwner) {
    state.withLock { state in
      if owner.isNetwork { state.unknownLists -= 1 }
      if other.isNetwork { state.unknownLists += 1 }
      state.accounts[owner]?.lists -= 1
      state.accounts[other, default: Account()].lists += 1
      change(by: bytes, other, &state)
      change(by: Bytes() - bytes, owner, &state)
    }
  }

  /// Counts what a list has after a read.
  ///
  /// - Parameters:
  ///   - former: what was counted for it.
  ///   - documents: the documents' size, counted if there is room for them.
  /// - Returns: what is counted now; without documents if they must be dropped.
  /// - Throws: ``Failure/Code/overloaded`` if there is no room for its rows; then what was counted before
  ///   remains.
  func change(
    _ former: Bytes, rows: Int, documents: Int, of owner: CallerOwner
  ) throws(Failure) -> Bytes {
    let result: Result<Bytes, Failure> = state.withLock { state in
      var bytes = Bytes(rows: rows)
      if rows > former.rows, let refusal = refusal(bytes - former, owner, state) {
        return .failure(refused(refusal))
      }
      change(by: bytes - former, owner, &state)
      let full = Bytes(documents: documents)
      let own = state.accounts[owner]?.bytes ?? Bytes()
      if state.all.bytes.documents + documents <= bytesMax / 2,
        own.documents + documents <= share(of: owner) / 2,
        refusal(full, owner, state) == nil
      {
        change(by: full, owner, &state)
        bytes.documents = documents
      }
      return .success(bytes)
    }
    return try result.get()
  }

  // MARK: Events

  /// Throws if the owner has no room for more, such as one whose clients do not read.
  func admit(_ byteCount: Int, of owner: CallerOwner) throws(Failure) {
    let reason = state.withLock { state in refusal(Bytes(events: byteCount), owner, state) }
    if let reason { throw refused(reason) }
  }

  /// Counts an event that waits for its client, or a subject; with a negative number, that one has ended.
  func note(events byteCount: Int, of owner: CallerOwner) {
    state.withLock { change(by: Bytes(events: byteCount), owner, &$0) }
  }

  // MARK: Limits

  private func share(of owner: CallerOwner) -> Int {
    owner.isNetwork ? bytesMax / 2 : bytesMax / 4
  }

  private func refusal(_ added: Bytes, _ owner: CallerOwner, _ state: borrowing State) -> String? {
    let own = state.accounts[owner]?.bytes ?? Bytes()
    if own.sum + added.sum > share(of: owner) {
      return
        "The lists that \(owner.isNetwork ? "your network follows" : "you follow") are too large"
    }
    return state.all.bytes.sum + added.sum > bytesMax
      ? "The lists that are followed are too large" : nil
  }

  private func refused(_ reason: String) -> Failure {
    refusals.increment()
    return Failure(
      .overloaded, "\(reason); end streams of lists, or retry later.", retry: .after,
      retryAfter: .seconds(5))
  }

  private func change(by bytes: Bytes, _ owner: CallerOwner, _ state: inout State) {
    state.all.bytes = state.all.bytes + bytes
    var account = state.accounts[owner] ?? Account()
    account.bytes = account.bytes + bytes
    state.accounts[owner] = account.lists == 0 && account.bytes == Bytes() ? nil : account
    listGauge.record(state.all.lists)
    byteGauge.record(state.all.bytes.sum)
  }
}
