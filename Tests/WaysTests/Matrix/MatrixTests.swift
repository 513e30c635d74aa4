import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Every route of the table times every caller: nothing of one reaches another.
  struct MatrixTests {
    /// The operator may see everything on these, and nobody else anything.
    private static func isOperators(_ route: String) -> Bool { route.contains(" /v1/admin/") }

    /// The operator sees every bucket.
    private static func isOfFiles(_ route: String) -> Bool { route.contains(" /v1/files") }

    private static func isTried(_ route: String, by caller: MatrixCaller) -> Bool {
      caller.kind != .admin || !(isOperators(route) || isOfFiles(route))
    }

    /// Whoever adds a route says in ``MatrixRequests`` how a stranger would try it.
    @Test func everyRouteOfTheTableIsTried() async throws {
      let world = try await MatrixWorld.start()
      #expect(world.routes.count > 30)
      let secrets = try await world.plant(MatrixCaller.owners[0])
      #expect(world.routes.filter { MatrixRequests.all(of: $0, secrets) == nil } == [])
      await world.stop()
    }

    /// Somebody else's id, tag, revision, cursor or token does what a made-up one does.
    @Test func aSecretOfSomebodyElseIsWorthNoMoreThanAMadeUpOne() async throws {
      let world = try await MatrixWorld.start()
      let nobodys = try await world.nobodysCursor()
      var secrets: [String: MatrixSecrets] = [:]
      for owner in MatrixCaller.owners { secrets[owner.word] = try await world.plant(owner) }
      for owner in MatrixCaller.kinds {
        let real = try #require(secrets[owner.word])
        let madeUp = real.madeUp(cursor: nobodys)
        for caller in owner.strangers {
          for route in world.routes where Self.isTried(route, by: caller) {
            let asks = MatrixRequests.all(of: route, real) ?? []
            let others = MatrixRequests.all(of: route, madeUp) ?? []
            // What the operator writes is meant for everybody.
            for (ask, other) in zip(asks, others) where caller.kind != .admin || ask.isSafe {
              try await Self.compare(
                ask, other, by: caller, in: world, real: real, madeUp: madeUp)
            }
          }
          for tried in [real, madeUp] { try await world.tidy(caller, after: tried) }
        }
        try await world.checkPlanted(owner)
      }
      await world.stop()
    }

    private static func compare(
      _ ask: MatrixAsk, _ other: MatrixAsk, by caller: MatrixCaller, in world: MatrixWorld,
      real: MatrixSecrets, madeUp: MatrixSecrets
    ) async throws {
      let answer = try await world.answer(to: ask, by: caller)
      let control = try await world.answer(to: other, by: caller)
      for answer in [answer, control] {
        Self.expectNoWord(in: answer, of: Self.others(than: caller), ask: ask, caller: caller)
      }
      guard ask.comparison != .words else { return }
      let wanted = control.comparable(ask.comparison) { real.replacing(madeUp, in: $0) }
      #expect(
        answer.comparable(ask.comparison) == wanted, "\(caller) learns of \(real.word): \(ask)")
      // What the caller's first request stored is a hit for the second, and not the other way round.
      #expect(
        !answer.freshness.isHit || control.freshness.isHit,
        "\(caller) sees \(real.word) fetch: \(answer.freshness) for \(ask)")
    }

    /// The same requests are answered the same before somebody else has anything and after.
    @Test func whatOthersOwnShowsInNoAnswer() async throws {
      let world = try await MatrixWorld.start()
      // The operator's sight of these is that of anybody without a token.
      let callers = MatrixCaller.all.filter { $0.kind != .admin }
      // By caller and owner.
      var before: [String: [String: [MatrixResponse]]] = [:]
      // The first round stores what the callers' own requests bring.
      for _ in 0..<2 {
        for caller in callers {
          for owner in MatrixCaller.kinds where owner.word != caller.word {
            before[caller.word, default: [:]][owner.word] =
              try await Self.safeAnswers(caller, about: owner, in: world).map(\.answer)
          }
        }
      }
      for owner in MatrixCaller.kinds {
        _ = try await world.plant(owner)
        for caller in callers where !world.owns(caller) {
          let after = try await Self.safeAnswers(caller, about: owner, in: world)
          let old = try #require(before[caller.word]?[owner.word])
          #expect(!old.isEmpty)
          for ((ask, answer), old) in zip(after, old) {
            Self.expectNoWord(in: answer, of: Self.others(than: caller), ask: ask, caller: caller)
            #expect(answer == old, "\(caller) notices \(owner): \(ask)")
            // What others change makes copies due that all share; what they fetch helps nobody.
            #expect(
              !answer.freshness.isHit || old.freshness.isHit,
              "\(caller) notices \(owner) fetch: \(ask)")
          }
        }
      }
      await world.stop()
    }

    /// What a caller who knows the owner's word and ids beforehand may read without a change.
    private static func safeAnswers(
      _ caller: MatrixCaller, about owner: MatrixCaller, in world: MatrixWorld
    ) async throws -> [(ask: MatrixAsk, answer: MatrixResponse)] {
      let known = MatrixSecrets(
        word: owner.word, listID: "l1", revision: "none", tags: [], listTag: "none",
        cursor: "none", pageToken: nil)
      var answers: [(ask: MatrixAsk, answer: MatrixResponse)] = []
      for route in world.routes where !isOperators(route) {
        for ask in MatrixRequests.all(of: route, known) ?? []
        where ask.isSafe && !ask.isStream && ask.comparison == .whole {
          answers.append((ask, try await world.answer(to: ask, by: caller)))
        }
      }
      return answers
    }

    private static func others(than caller: MatrixCaller) -> [String] {
      MatrixCaller.all.map(\.word).filter { $0 != caller.word }
    }

    /// A word that the caller did not say itself.
    private static func expectNoWord(
      in answer: MatrixResponse, of words: [String], ask: MatrixAsk, caller: MatrixCaller
    ) {
      let text = answer.text.lowercased()
      let said = ask.text.lowercased()
      for word in words where text.contains(word) && !said.contains(word) {
        Issue.record("\(caller) is told of \(word) by \(ask): \(answer)")
      }
    }
  }
}
