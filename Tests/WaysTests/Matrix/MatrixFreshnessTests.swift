import TestSupport
import Testing

extension Ways {
  /// One caller's fetches do not show in any other caller's `Cache-Status` and `Age`.
  struct MatrixFreshnessTests {
    private static let newcomers = [
      MatrixCaller(kind: .token, word: "zktokenc"), MatrixCaller(kind: .device, word: "zlphonec"),
      MatrixCaller(kind: .deviceWithToken, word: "zmbothc"),
      MatrixCaller(kind: .user, word: "znuserfay"),
    ]

    /// After every other caller has fetched everything, a copy or an age that a new caller gets belongs
    /// either to data that all callers share, or to the new caller's own earlier fetch: then it has the new
    /// caller's word, and on a slow machine an age.
    @Test("A new caller gets no copy and no age of another caller's fetch")
    func newCallerGetsNoPrivateCopy() async throws {
      let world = try await MatrixWorld.start()
      for owner in MatrixCaller.owners { _ = try await world.plant(owner) }
      for bystander in [Self.device, Self.user] { try await world.admit(bystander) }
      for newcomer in Self.newcomers {
        try await world.admit(newcomer)
        var fetched: Set<String> = []
        var hits = 0
        for ask in Self.asks(of: newcomer, in: world) {
          let answer = try await world.answer(to: ask, by: newcomer)
          let freshness = answer.freshness
          if freshness.status != nil, !freshness.isHit {
            #expect(freshness.age == 0, "\(newcomer): \(ask): \(freshness)")
            fetched.insert(answer.body)
          } else if freshness.isHit || freshness.age ?? 0 > 0, !fetched.contains(answer.body),
            !answer.body.contains(newcomer.word)
          {
            let shared = try await world.answer(to: ask, by: Self.bystander(of: newcomer))
            #expect(answer.body == shared.body, "\(newcomer): \(ask)")
            #expect(freshness.status == shared.freshness.status, "\(newcomer): \(ask)")
            // A cached response reports its age by a clock of whole seconds.
            #expect(
              freshness.age ?? 0 <= (shared.freshness.age ?? 0) + 1, "\(newcomer): \(ask)")
          }
          if freshness.isHit { hits += 1 }
        }
        #expect(fetched.count >= (newcomer.kind.hasToken ? 3 : 0) && hits > 0, "\(newcomer)")
      }
      await world.stop()
    }

    private static let anonymous = MatrixCaller(kind: .anonymous, word: "zanobody")
    private static let device = MatrixCaller(kind: .device, word: "zlphoned")
    private static let user = MatrixCaller(kind: .user, word: "znuserdee")

    /// A caller who has nothing, and sees the same local fields: none without an owner, others with defaults.
    private static func bystander(of newcomer: MatrixCaller) -> MatrixCaller {
      switch newcomer.kind {
      case .user: user
      case .device, .deviceWithToken: device
      default: anonymous
      }
    }

    /// Each target once, by a caller who knows no secrets: operations with routes first, since lists and
    /// diffs of the same operations fetch without reporting so.
    private static func asks(of newcomer: MatrixCaller, in world: MatrixWorld) -> [MatrixAsk] {
      let known = MatrixSecrets(
        word: newcomer.word, listID: "l1", revision: "none", tags: [], listTag: "none",
        cursor: "none", pageToken: nil)
      var targets: Set<String> = []
      let ways = world.routes.filter { $0.contains(" /api/") && !$0.hasSuffix("/diff") }
      return (ways + world.routes).flatMap { MatrixRequests.all(of: $0, known) ?? [] }.filter {
        $0.isSafe && !$0.isStream && targets.insert($0.target).inserted
      }
    }

    /// A fetch does not make another caller's copy younger, and a first copy is not as old as another
    /// caller's.
    @Test("A copy's age depends on its own caller's fetches alone")
    func copiesAgeByTheirOwnFetchesAlone() async throws {
      let world = try await MatrixWorld.start()
      let (first, second) = (Self.newcomers[0], Self.newcomers[2])
      for caller in [first, second] { try await world.admit(caller) }
      let asks = ["/api/me", "/api/films/f9/mine"].map { MatrixAsk.get($0) }
      for ask in asks {
        #expect(try await world.answer(to: ask, by: first).freshness.status == Self.miss)
      }
      for ask in asks {
        // Cached responses report their ages by a clock of whole seconds, so two of them can be one apart.
        let aged = try await eventually {
          try await world.answer(to: ask, by: first).freshness
        } until: {
          ($0.age ?? 0) >= 4
        }
        let fetched = try await world.answer(to: ask, by: second).freshness
        #expect(fetched.status == Self.miss && fetched.age == 0, "\(ask): \(fetched)")
        let own = try await world.answer(to: ask, by: second).freshness
        let older = try await world.answer(to: ask, by: first).freshness
        #expect(aged.isHit && own.isHit && older.isHit, "\(ask): \(aged), \(own), \(older)")
        #expect(own.age ?? .max < older.age ?? 0, "\(ask): \(own), \(older)")
      }
      await world.stop()
    }

    private static let miss = "larder; fwd=uri-miss; stored"
  }
}
