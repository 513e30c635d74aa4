import LosslessJSON

/// Switches that can be changed while a demo server runs, in the process or with `POST /__demo`.
package struct DemoSwitches: Sendable, Hashable {
  /// Delay before each GraphQL response.
  package var latency: Duration = .zero
  /// Maximum additional delay, drawn at random for each response.
  package var jitter: Duration = .zero
  package var fail = FailMode.off
  /// Fails every nth of the requests that the mode applies to, counted since it was set.
  package var every = 1
  /// Number of failures after which the mode ends; nil = never.
  package var times: Int?
  /// The operations that latency and failures apply to; empty for all.
  package var operations: Set<String> = []
  /// Whether a failed request is executed, for mutations that take effect without a response.
  /// `half-body` always executes.
  package var takesEffect = false
  /// Coordinates (`Type.field`) of the fields that `partial` fails.
  var partialFields: Set<String> = ["Film.synopsis"]
  /// Length of the body in `oversize`.
  package var oversizeBytes = 64 << 20
  /// How long `refuse` lasts if it was set over HTTP, where no request could end it; nil = until the
  /// process ends it.
  var refuseFor: Duration?

  package init() {}
}

extension DemoSwitches {
  /// An unknown or invalid member of `POST /__demo`.
  struct BadMember: Error {
    let name: String
  }

  /// How long `refuse` lasts if set over HTTP without `refuseMs`: enough time to type a command or
  /// two.
  private static let refuseForUsual = Duration.seconds(30)
  private static let millisecondsMax = 600_000
  private static let oversizeBytesMax = 1 << 30

  /// Applies the members of a JSON object and leaves the other switches unchanged.
  mutating func apply(_ members: [JSONMember]) throws(BadMember) {
    for member in members { try apply(member) }
    refuseFor = fail == .refuse ? refuseFor ?? Self.refuseForUsual : nil
  }

  private mutating func apply(_ member: JSONMember) throws(BadMember) {
    let bad = BadMember(name: member.name)
    func whole(_ range: ClosedRange<Int>) throws(BadMember) -> Int {
      guard let value = member.value.int64, range.contains(Int(value)) else { throw bad }
      return Int(value)
    }
    func names() throws(BadMember) -> Set<String> {
      guard let values = member.value.array else { throw bad }
      return Set(values.compactMap(\.string))
    }
    switch member.name {
    case "latencyMs": latency = .milliseconds(try whole(0...Self.millisecondsMax))
    case "jitterMs": jitter = .milliseconds(try whole(0...Self.millisecondsMax))
    case "fail":
      let word = member.value.string ?? member.value.number?.digits ?? ""
      guard let mode = FailMode(word: word) else { throw bad }
      fail = mode
    case "every": every = try whole(1...1_000_000)
    case "times": times = member.value.isNull ? nil : try whole(1...1_000_000)
    case "operations": operations = try names()
    case "takesEffect":
      guard let flag = member.value.bool else { throw bad }
      takesEffect = flag
    case "partialFields": partialFields = try names()
    case "oversizeBytes": oversizeBytes = try whole(1...Self.oversizeBytesMax)
    case "refuseMs": refuseFor = .milliseconds(try whole(1...Self.millisecondsMax))
    default: throw bad
    }
  }

  var json: JSONValue {
    [
      "latencyMs": .int(latency.milliseconds),
      "jitterMs": .int(jitter.milliseconds),
      "fail": .string(fail.word),
      "every": .int(every),
      "times": times.map { .int($0) } ?? .null,
      "operations": .array(operations.sorted().map(JSONValue.string)),
      "takesEffect": .bool(takesEffect),
      "partialFields": .array(partialFields.sorted().map(JSONValue.string)),
      "oversizeBytes": .int(oversizeBytes),
    ]
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}

/// The failure mode of a demo server. The raw values are the words of `POST /__demo`.
package enum FailMode: Sendable, Hashable {
  case off
  /// Connections are refused, because the listener is closed.
  case refuse
  /// The request is held without a response until the mode changes.
  case hang
  /// An HTTP error status with a JSON body that is not a GraphQL response.
  case status(Int)
  /// A proxy's error page: 502 with `text/html`.
  case html
  /// 200 with truncated JSON whose length is as announced.
  case brokenJSON
  /// The head and half of the body, then the end of the connection.
  case halfBody
  /// A body of `DemoSwitches.oversizeBytes`.
  case oversize
  /// 200 with `errors` and `data: null`.
  case graphQLErrors
  /// A response in which the fields of `DemoSwitches.partialFields` failed.
  case partial
}

extension FailMode {
  private static let words: [(mode: FailMode, word: String)] = [
    (.off, "off"), (.refuse, "refuse"), (.hang, "hang"), (.html, "html"),
    (.brokenJSON, "broken-json"), (.halfBody, "half-body"), (.oversize, "oversize"),
    (.graphQLErrors, "graphql-errors"), (.partial, "partial"),
  ]

  package init?(word: String) {
    if let known = Self.words.first(where: { $0.word == word }) {
      self = known.mode
    } else if let status = Int(word), (400...599).contains(status) {
      self = .status(status)
    } else {
      return nil
    }
  }

  package var word: String {
    if case .status(let status) = self { return String(status) }
    return Self.words.first { $0.mode == self }?.word ?? ""
  }
}

/// The options of a demo server; `DemoSwitches` has those that can change while it runs.
package struct DemoOptions: Sendable {
  package var host: String
  /// 0 = any free port.
  package var port: Int
  /// The same seed gives the same films.
  package var seed: UInt64
  /// Seconds since 1970, for `serverTime` and `updatedAt`.
  package var now: @Sendable () -> Int64
  package var switches: DemoSwitches
  /// Number of requests that ``DemoReport/recent`` keeps.
  package var recentMax = 50

  package init(
    host: String = "127.0.0.1", port: Int = 0, seed: UInt64 = DemoOptions.usualSeed,
    switches: DemoSwitches = DemoSwitches(), now: @escaping @Sendable () -> Int64
  ) {
    self.host = host
    self.port = port
    self.seed = seed
    self.now = now
    self.switches = switches
  }

  /// The year of the first public screening.
  static let usualSeed: UInt64 = 1895
}
