import Model
import Storage

/// Asks hooks before writes to local types and to local fields. No transaction is open meanwhile: a list of
/// writes is tried, its changes are rolled back and shown to the hooks, and it is written if it still makes
/// the same ones.
package struct HookReviewer: Sendable {
  /// How often hooks are asked about one list: each time that other writes have changed its entities.
  static let roundsMax = 3
  /// The maximum number of requests about one list.
  static let questionsMax = 1_000
  /// The maximum number of concurrent requests about one list.
  private static let lanesMax = 8
  /// The time limit for all requests about one list in one round.
  private static let limit = Duration.seconds(30)
  private static let retryAfter = Duration.seconds(5)

  let subscriptions: HookSubscriptions
  /// How long hooks can take to decide about one list, in all rounds.
  package let timeMax: Duration
  private let hooks: [String: OutgoingHook]
  private let meters: [String: HookOutMeters]
  private let entities: EntityRenderer
  private let exchange: HookExchange
  private let environment: PushEnvironment

  init(
    hooks: [OutgoingHook], meters: [String: HookOutMeters], entities: EntityRenderer,
    exchange: HookExchange, environment: PushEnvironment
  ) {
    subscriptions = HookSubscriptions(hooks, .before)
    timeMax = Self.timeMax(of: hooks)
    self.hooks = Dictionary(
      hooks.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.meters = meters
    self.entities = entities
    self.exchange = exchange
    self.environment = environment
  }

  /// Returns how long hooks with these timeouts can take to decide about one list, in all rounds.
  static func timeMax(of hooks: [OutgoingHook]) -> Duration {
    let longest = hooks.filter { $0.moment == .before }.map(\.timeout).max() ?? .zero
    let perLane = (questionsMax + lanesMax - 1) / lanesMax
    return min(limit, longest * perLane) * roundsMax
  }

  private struct Question: Sendable {
    let hook: OutgoingHook
    let change: LocalChange
    let body: [UInt8]
  }

  private enum Verdict: Sendable {
    case allowed
    case refused(String)
    case unanswered(String)
  }

  /// Asks the hooks about all changes of a list.
  ///
  /// - Parameter pointers: the JSON pointer of each operation of the list.
  /// - Throws: `refusedByHook` with every refusal, or `hookUnavailable` if a hook did not decide whose
  ///   silence refuses.
  func ask(_ changes: [LocalChange], pointers: [String]) async throws(Failure) {
    let questions = try self.questions(changes)
    let verdicts = await verdicts(on: questions)
    var refusals: [(message: String, detail: Failure.Detail?)] = []
    var silent: (hook: String, reason: String)?
    for (question, verdict) in zip(questions, verdicts) {
      switch verdict {
      case .allowed: break
      case .refused(let text):
        let place = question.change.place
        let pointer = pointers.indices.contains(place) ? pointers[place] : ""
        refusals.append(
          (
            text,
            pointer.isEmpty ? nil : Failure.Detail(place: .pointer(pointer), detail: text)
          ))
      case .unanswered(let reason):
        if question.hook.unanswered == .refuse { silent = silent ?? (question.hook.name, reason) }
      }
    }
    if let first = refusals.first {
      throw Failure(.refusedByHook, first.message, details: refusals.compactMap(\.detail))
    }
    if let silent {
      throw Failure(
        .hookUnavailable,
        "The hook `\(silent.hook)` did not decide about the write, so nothing was written. Retry later.",
        retry: .after, retryAfter: Self.retryAfter, cause: silent.reason)
    }
  }

  /// The failure of a list whose changes were different each time that hooks were asked.
  static var conflict: Failure {
    Failure(
      .writeConflict,
      "Other writes changed the entities each time after hooks were asked; nothing was written. "
        + "Retry.", retry: .after, retryAfter: .seconds(1))
  }

  private func questions(_ changes: [LocalChange]) throws(Failure) -> [Question] {
    var questions: [Question] = []
    for change in changes {
      let body = try HookOutbox.body(of: change) { key, record throws(Failure) in
        try entities.reported(key, record)
      }
      for name in subscriptions.hooks(for: change.trigger) {
        guard let hook = hooks[name] else { continue }
        questions.append(Question(hook: hook, change: change, body: body))
      }
      guard questions.count <= Self.questionsMax else {
        throw Failure(
          .tooCostly,
          "The writes change more than \(Self.questionsMax) entities that hooks must be asked about:"
            + " write them in parts.", retry: .never)
      }
    }
    return questions
  }

  private func verdicts(on questions: [Question]) async -> [Verdict] {
    let end = environment.now.advanced(by: Self.limit)
    return await withTaskGroup(of: (Int, Verdict).self) { group in
      var verdicts = [Verdict](repeating: .unanswered("not asked"), count: questions.count)
      var next = 0
      while next < min(Self.lanesMax, questions.count) {
        let index = next
        group.addTask { (index, await self.verdict(on: questions[index], until: end)) }
        next += 1
      }
      while let (index, verdict) = await group.next() {
        verdicts[index] = verdict
        guard next < questions.count else { continue }
        let index = next
        group.addTask { (index, await self.verdict(on: questions[index], until: end)) }
        next += 1
      }
      return verdicts
    }
  }

  private func verdict(on question: Question, until end: Timestamp) async -> Verdict {
    let hook = question.hook
    let rest = environment.now.elapsed(until: end)
    let answer =
      rest > .zero
      ? await exchange.call(
        hook, id: "evt_\(environment.makeUUID())", body: question.body, within: rest)
      : .none(
        wasSent: false, retryAfter: nil, reason: "the time for all hooks of the write was over")
    let now = environment.now
    switch answer {
    case .accepted:
      meters[hook.name]?.note(.allowed, at: now)
      return .allowed
    case .status(let status, let detail, _) where (400...499).contains(status):
      meters[hook.name]?.note(.refused, at: now)
      return .refused(detail ?? "The hook `\(hook.name)` refused the write.")
    case .unreadable(let reason):
      // Its status is unknown. It has decided something, and a caller can influence the size of the text.
      meters[hook.name]?.note(.refused, reason: reason, at: now)
      return .refused("The hook `\(hook.name)` answered what cannot be read: \(reason).")
    case .status, .none:
      meters[hook.name]?.note(.unanswered, reason: answer.reason, at: now)
      return .unanswered(answer.reason)
    }
  }
}
