import LosslessJSON

extension DemoSwitches {
  /// A member of `POST /__demo` that is unknown or of no use.
  struct BadMember: Error {
    let name: String
  }

  /// `refuse` by HTTP ends by itself after this long unless `refuseMs` says otherwise: time enough to
  /// type a command or two.
  private static let refuseForUsual = Duration.seconds(30)
  private static let millisecondsMax = 600_000
  private static let oversizeBytesMax = 1 << 30

  /// Takes over the members of a JSON object and leaves the rest as it is.
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
      "latencyMs": .number(JSONNumber(latency.milliseconds)),
      "jitterMs": .number(JSONNumber(jitter.milliseconds)),
      "fail": .string(fail.word),
      "every": .number(JSONNumber(every)),
      "times": times.map { .number(JSONNumber($0)) } ?? .null,
      "operations": .array(operations.sorted().map(JSONValue.string)),
      "takesEffect": .bool(takesEffect),
      "partialFields": .array(partialFields.sorted().map(JSONValue.string)),
      "oversizeBytes": .number(JSONNumber(oversizeBytes)),
    ]
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}
