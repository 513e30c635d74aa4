import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

/// Checks the outcome of every enqueued mutation at a service that was killed repeatedly, and at the upstream
/// that it calls.
struct QueueKillCheck {
  private static let pageMax = 200

  let port: Int
  let tokens: [String]
  /// The seed and round, for messages: enough to run a failure again.
  let note: String

  /// The queue drains by itself.
  func drained(withinSeconds seconds: Int) async throws {
    let isDrained = await Moment.comes(withinSeconds: seconds) {
      for phone in tokens.indices {
        guard try await get("/v1/queue", phone)["pending"] == 0 else { return false }
      }
      return true
    }
    #expect(isDrained, "\(note): the queues have not drained")
    for phone in tokens.indices {
      let queue = try await get("/v1/queue", phone)
      #expect(queue == ["pending": 0, "parked": 0, "state": "running"], "\(note): \(queue)")
    }
  }

  /// Each accepted mutation is there under its id, has finished, and its key makes no other.
  func acknowledged(_ mutations: [EnqueuedMutations.Mutation]) async throws {
    #expect(mutations.count > 100, "\(note): hardly anything was taken")
    for mutation in mutations {
      let id = mutation.id ?? ""
      let shown = try await get("/v1/mutations/\(id)", mutation.device)
      let state = shown["sharedState"]?.string ?? shown["state"]?.string
      #expect(state == "applied", "\(note): \(mutation.key) \(shown)")
      let again = try await post(mutation)
      #expect(again["idempotency-replayed"] == "true", "\(note): \(mutation.key) \(again.text)")
      let replayed = try JSONValue(parsing: again.body)["id"]?.string
      #expect(replayed == id, "\(note): \(mutation.key) is two mutations")
    }
  }

  /// Upstream executed each mutation once, and those of one film in the order in which the phone enqueued
  /// them.
  func upstream(_ report: DemoReport) async throws {
    var applied = 0
    for phone in tokens.indices {
      let mutations = try await all(phone)
      #expect(Set(mutations.map(\.id)).count == mutations.count, "\(note)")
      applied += mutations.count { $0.state == "applied" }
      for place in 0..<QueueLoad.filmsPerPhone {
        let film = QueueLoad.film(place, of: phone)
        let expected = mutations.filter { $0.object == "Film:\(film)" && $0.state == "applied" }
        var came: [String] = []
        for request in report.recent where request.variables["id"]?.string == film {
          guard let key = request["idempotency-key"], came.last != key else { continue }
          came.append(key)
        }
        #expect(came == expected.map(\.id), "\(note): \(film) came in another order")
      }
    }
    let executed = report["RateFilm"].executed + report["UpdateFilm"].executed
    #expect(executed == applied, "\(note)")
    #expect(report["RateFilm"].replayed + report["UpdateFilm"].replayed > 0, "\(note)")
  }

  private struct ReportedMutation {
    let id: String
    let state: String
    let object: String
  }

  /// A phone's mutations, in the order in which they were enqueued.
  private func all(_ phone: Int) async throws -> [ReportedMutation] {
    var told: [ReportedMutation] = []
    var after: String?
    repeat {
      let target = "/v1/mutations?limit=\(Self.pageMax)" + (after.map { "&after=\($0)" } ?? "")
      let page = try await get(target, phone)
      for item in page["items"]?.array ?? [] {
        told.append(
          ReportedMutation(
            id: item["id"]?.string ?? "", state: item["state"]?.string ?? "",
            object: item["object"]?.string ?? ""))
      }
      after = page["next"]?.string
    } while after != nil
    return told.reversed()
  }

  private func get(_ target: String, _ phone: Int) async throws -> JSONValue {
    let (port, headers) = (port, QueueLoad.headers(phone, token: tokens[phone]))
    return try await onOwnThread {
      try JSONValue(
        parsing: RawClient(port: port).request("GET", target, headers: headers).body)
    }
  }

  private func post(_ mutation: EnqueuedMutations.Mutation) async throws -> RawResponse {
    let headers =
      QueueLoad.headers(mutation.device, token: tokens[mutation.device])
      + [("Idempotency-Key", mutation.key)]
    let port = port
    return try await onOwnThread {
      try RawClient(port: port).request(
        "POST", "/v1/mutations", headers: headers, body: mutation.body)
    }
  }
}
