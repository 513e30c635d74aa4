import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Every route of the table times every caller: one caller's data reaches no other.
  struct MatrixTests {
    /// Routes on which the operator may see everything, and other callers nothing.
    private static func isOperators(_ route: String) -> Bool { route.contains(" /v1/admin/") }

    /// Routes of files: the operator sees every bucket.
    private static func isOfFiles(_ route: String) -> Bool { route.contains(" /v1/files") }

    private static func isTried(_ route: String, by caller: MatrixCaller) -> Bool {
      caller.kind != .admin || !(isOperators(route) || isOfFiles(route))
    }

    /// A new route needs an entry in ``MatrixRequests``.
    @Test("The matrix covers every route")
    func everyRouteIsCovered() async throws {
      let world = try await MatrixWorld.start()
      #expect(world.routes.count > 30)
      let secrets = try await world.plant(MatrixCaller.owners[0])
      #expect(world.routes.filter { MatrixRequests.all(of: $0, secrets) == nil } == [])
      await world.stop()
    }

    /// Covers ids, tags, revisions, cursors and tokens.
    @Test("Another caller's secret has the same effect as an invented one")
    func foreignSecretsEqualInventedOnes() async throws {
      let world = try await MatrixWorld.start()
      let emptyCursor = try await world.emptyCallersCursor()
      var secrets: [String: MatrixSecrets] = [:]
      for owner in MatrixCaller.owners { secrets[owner.word] = try await world.plant(owner) }
      for owner in MatrixCaller.kinds {
        let real = try #require(secrets[owner.word])
        let madeUp = real.madeUp(cursor: emptyCursor)
        for caller in owner.strangers {
          for route in world.routes where Self.isTried(route, by: caller) {
            let asks = MatrixRequests.all(of: route, real) ?? []
            let others = MatrixRequests.all(of: route, madeUp) ?? []
            // The operator's writes are meant for every caller.
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
      // A response stored for the caller's first request is a hit for the second, but not the other way
      // round.
      #expect(
        !answer.freshness.isHit || control.freshness.isHit,
        "\(caller) sees \(real.word) fetch: \(answer.freshness) for \(ask)")
    }

    /// The same requests get the same responses before another caller owns any data and after.
    @Test("What other callers own changes no response")
    func othersDataChangesNoResponse() async throws {
      let world = try await MatrixWorld.start()
      // The operator's view of these routes is the one without a token.
      let callers = MatrixCaller.all.filter { $0.kind != .admin }
      // Responses by caller and owner.
      var before: [String: [String: [MatrixResponse]]] = [:]
      // The first round stores the data that the callers' own requests fetch.
      for _ in 0..<2 {
        for caller in callers {
          for owner in MatrixCaller.kinds where owner.word != caller.word {
            before[caller.word, default: [:]][owner.word] =
              try await Self.safeResponses(caller, about: owner, in: world).map(\.answer)
          }
        }
      }
      for owner in MatrixCaller.kinds {
        _ = try await world.plant(owner)
        for caller in callers where !world.owns(caller) {
          let after = try await Self.safeResponses(caller, about: owner, in: world)
          let old = try #require(before[caller.word]?[owner.word])
          #expect(!old.isEmpty)
          for ((ask, answer), old) in zip(after, old) {
            Self.expectNoWord(in: answer, of: Self.others(than: caller), ask: ask, caller: caller)
            #expect(answer == old, "\(caller) notices \(owner): \(ask)")
            // Other callers' changes expire copies that all share; their fetches refresh nothing for this
            // caller.
            #expect(
              !answer.freshness.isHit || old.freshness.isHit,
              "\(caller) notices \(owner) fetch: \(ask)")
          }
        }
      }
      await world.stop()
    }

    /// The responses to the reads of a caller who knows the owner's word and ids beforehand.
    private static func safeResponses(
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

    /// Expects no word that the caller did not send itself.
    private static func expectNoWord(
      in answer: MatrixResponse, of words: [String], ask: MatrixAsk, caller: MatrixCaller
    ) {
      let text = answer.text.lowercased()
      let said = ask.text.lowercased()
      for word in words where text.contains(word) && !said.contains(word) {
        Issue.record("\(caller) gets \(word) by \(ask): \(answer)")
      }
    }
  }
}
