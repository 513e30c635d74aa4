import LosslessJSON
import TestSupport
import Testing

/// Checks the outcome of every enqueued mutation at a service that was killed while sending, and at the
/// upstream that counted.
struct QueueKindsCheck {
  /// A mutation as the queue reports it.
  struct ReportedMutation: Sendable {
    let id: String
    let operation: String
    let mode: String
    let state: String
    let reason: String?
    /// `Type:id`, with the real id once it is known.
    let object: String

    init(_ item: JSONValue) {
      id = item["id"]?.string ?? ""
      operation = item["operation"]?.string ?? ""
      mode = item["mode"]?.string ?? ""
      state = item["state"]?.string ?? ""
      reason = item["reason"]?.string
      object = item["object"]?.string ?? ""
    }
  }

  private static let pageMax = 200

  let port: Int
  let tokens: [String]
  /// The seed and round, for messages: enough to run a failure again.
  let note: String

  /// Every mutation is sent by itself or discarded by its phone.
  func drained(withinSeconds seconds: Int) async throws {
    let isDrained = await Moment.comes(withinSeconds: seconds) {
      var isEmpty = true
      for phone in tokens.indices {
        let (port, headers) = (port, headers(phone))
        let parked = try await onOwnThread {
          try QueueKindsLoad.giveUpParked(RawClient(port: port), headers: headers).map(
            ReportedMutation.init)
        }
        for mutation in parked {
          #expect(mutation.reason == "outcome_unknown", "\(note): \(mutation)")
          #expect(QueueKindsLoad.parking.contains(mutation.operation), "\(note): \(mutation)")
        }
        let queue = try await ask { try $0.request("GET", "/v1/queue", headers: headers) }
        if queue != ["pending": 0, "parked": 0, "state": "running"] { isEmpty = false }
      }
      return isEmpty
    }
    #expect(isDrained, "\(note): the queues have not drained")
  }

  /// Each acknowledged mutation is there, and its key makes no other.
  func acknowledged(_ mutations: [EnqueuedMutations.Mutation]) async throws {
    var told: [String: ReportedMutation] = [:]
    for phone in tokens.indices {
      for mutation in try await all(phone) { told[mutation.id] = mutation }
    }
    for mutation in mutations {
      guard let id = mutation.id else { continue }
      #expect(told[id] != nil, "\(note): \(mutation.key) is lost")
      let fields = headers(mutation.device) + [("Idempotency-Key", mutation.key)]
      let again = try await ask {
        try $0.request("POST", "/v1/mutations", headers: fields, body: mutation.body)
      }
      #expect(again["id"]?.string == id, "\(note): \(mutation.key) is two mutations: \(again)")
    }
  }

  /// Each burnt fuse had the outcome for its mutation that is promised for its kind.
  func burnt(_ burnt: [CountingUpstream.Burnt], _ sendings: [CountingUpstream.Sending]) async throws
  {
    var states: [String: String] = [:]
    for phone in tokens.indices {
      for mutation in try await all(phone) { states[mutation.id] = mutation.state }
    }
    for fuse in burnt {
      let sent = sendings.filter { $0.key == fuse.key }
      let isParked = QueueKindsLoad.parking.contains(fuse.operation)
      #expect(states[fuse.key] == (isParked ? "discarded" : "applied"), "\(note): \(fuse)")
      let isOnce = isParked || (fuse.isAfterEffect && fuse.operation != "Rate")
      if isOnce { #expect(sent.count == 1, "\(note): \(fuse) \(sent)") }
      if !isOnce { #expect(sent.count > 1, "\(note): \(fuse) \(sent)") }
    }
  }

  /// Upstream executed each mutation that must not be repeated once, and none that should never be sent.
  func effects(_ sendings: [CountingUpstream.Sending]) async throws {
    let sent = Dictionary(grouping: sendings, by: \.key)
    for phone in tokens.indices {
      for mutation in try await all(phone) {
        let sendings = sent[mutation.id] ?? []
        let effects = sendings.count(where: \.tookEffect)
        if QueueKindsLoad.parking.contains(mutation.operation) {
          #expect(sendings.count <= 1, "\(note): \(mutation) was sent again")
        }
        if mutation.operation != "Rate" {
          #expect(effects <= 1, "\(note): \(mutation) took effect \(effects) times")
        }
        switch mutation.state {
        case "applied": #expect(effects > 0, "\(note): \(mutation) did nothing")
        case "rejected", "superseded", "expired":
          #expect(sendings.isEmpty, "\(note): \(mutation) was sent")
        default: #expect(mutation.state == "discarded", "\(note): \(mutation)")
        }
      }
    }
  }

  /// The mutations of one film were sent in the order of enqueueing, and so were all steady ones.
  func order(_ sendings: [CountingUpstream.Sending]) async throws {
    for phone in tokens.indices {
      let mutations = try await all(phone)
      let places = Dictionary(
        uniqueKeysWithValues: mutations.enumerated().map { ($1.id, $0) })
      let steady = Set(mutations.filter { $0.mode == "steady" }.map(\.id))
      expectOrder(sendings.map(\.key).filter(steady.contains), places, "steady, phone \(phone)")
      let own = sendings.filter { places[$0.key] != nil && !$0.film.isEmpty }
      for (film, sendings) in Dictionary(grouping: own, by: \.film) {
        expectOrder(sendings.map(\.key), places, film)
      }
    }
  }

  private func expectOrder(_ keys: [String], _ places: [String: Int], _ what: String) {
    var last: (key: String, place: Int)?
    for key in keys where key != last?.key {
      let place = places[key] ?? -1
      #expect(place > last?.place ?? -1, "\(note): \(what): \(key) came behind \(last?.key ?? "")")
      last = (key, place)
    }
  }

  /// A client that has followed the changes throughout knows the outcome of each mutation.
  func told(_ phone: Int, _ changes: ChangeReader) async throws {
    for mutation in try await all(phone) {
      let told = try changes.held["$mutation/\(mutation.id)"].map { try JSONValue(parsing: $0) }
      #expect(told?["state"]?.string == mutation.state, "\(note): \(mutation) \(told ?? .null)")
      #expect(told?["reason"]?.string == mutation.reason, "\(note): \(mutation)")
    }
  }

  /// A phone's mutations, in the order in which they were enqueued.
  func all(_ phone: Int) async throws -> [ReportedMutation] {
    var told: [ReportedMutation] = []
    var after: String?
    repeat {
      let target = "/v1/mutations?limit=\(Self.pageMax)" + (after.map { "&after=\($0)" } ?? "")
      let headers = headers(phone)
      let page = try await ask { try $0.request("GET", target, headers: headers) }
      told += (page["items"]?.array ?? []).map(ReportedMutation.init)
      after = page["next"]?.string
    } while after != nil
    return told.reversed()
  }

  private func headers(_ phone: Int) -> [(String, String)] {
    QueueLoad.headers(phone, token: tokens[phone])
  }

  private func ask(
    _ question: @escaping @Sendable (RawClient) throws -> RawResponse
  ) async throws -> JSONValue {
    let port = port
    return try await onOwnThread { try JSONValue(parsing: question(RawClient(port: port)).body) }
  }
}
