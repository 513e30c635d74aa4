import LosslessJSON
import Testing

@testable import Model

/// What a field of each scalar takes, and what it says of the rest.
struct LocalValueReaderTests {
  private static let schema = LocalSchema(
    types: [:], objects: [:], enums: ["Colour": ["RED", "GREEN"]])

  private static func field(
    _ kind: LocalField.Kind, required: Bool = false, _ rules: LocalRules = LocalRules()
  ) -> LocalField {
    LocalField(name: "f", kind: kind, nonNull: [required], rules: rules)
  }

  private static func read(
    _ value: JSONValue, _ field: LocalField
  ) -> (stored: JSONValue?, faults: [String]) {
    var reader = LocalValueReader(schema: schema)
    let stored = reader.read(value, field, at: "/f")
    #expect(reader.faults.allSatisfy { $0.place == .pointer("/f") })
    return (stored, reader.faults.map(\.detail))
  }

  private static func number(_ digits: String) -> JSONValue {
    JSONNumber(digits: digits).map { .number($0) } ?? .null
  }

  @Test(
    "Integers are limited to their width",
    arguments: [
      (.int8, "-128", "127", "-129", "128"),
      (.int16, "-32768", "32767", "-32769", "32768"),
      (.int32, "-2147483648", "2147483647", "-2147483649", "2147483648"),
      (.int, "-2147483648", "2147483647", "-2147483649", "2147483648"),
      (
        .int64, "-9223372036854775808", "9223372036854775807", "-9223372036854775809",
        "9223372036854775808"
      ),
    ] as [(LocalScalar, String, String, String, String)])
  func integersAreLimitedToTheirWidth(
    scalar: LocalScalar, least: String, most: String, below: String, above: String
  ) {
    let field = Self.field(.scalar(scalar))
    for digits in [least, most, "0", "-1"] {
      let (stored, faults) = Self.read(Self.number(digits), field)
      #expect(stored?.number?.digits == digits, "\(scalar)")
      #expect(faults == [])
    }
    let others: [JSONValue] = [
      Self.number(below), Self.number(above), Self.number("0.5"), "1", true, [1], [:],
    ]
    for value in others {
      let (stored, faults) = Self.read(value, field)
      #expect(stored == nil, "\(scalar) \(value)")
      #expect(faults == ["is not a whole number from \(least) to \(most)"])
    }
  }

  @Test(
    "Numbers keep their digits and must be finite",
    arguments: [
      (.float, ["0", "1.50", "-1e3", "9007199254740993", "3.4e38"], ["1e400", "-1e999"]),
      (.double, ["0.10", "1.7976931348623157e308", "-0.0"], ["1e309"]),
    ] as [(LocalScalar, [String], [String])])
  func numbersKeepDigits(
    scalar: LocalScalar, taken: [String], refused: [String]
  ) {
    let field = Self.field(.scalar(scalar))
    for digits in taken {
      #expect(Self.read(Self.number(digits), field).stored?.number?.digits == digits)
    }
    for value in refused.map(Self.number) + ["1.5", false, []] {
      let (stored, faults) = Self.read(value, field)
      #expect(stored == nil, "\(value)")
      #expect(faults == ["is not a number"])
    }
  }

  @Test(
    "Other scalars accept only their own values",
    arguments: [
      (.scalar(.boolean), [true, false], [0, 1, "true", []], "is not true or false"),
      (
        .scalar(.data), ["", "AA==", "AAA=", "+/09", "aGVsbG8="],
        ["A", "AA=", "A===", "====", "AA-_", "AA==AA==", "A A=", 1, true], "is not base64"
      ),
      (.scalar(.string), ["", "é", "\u{0}"], [1, true, [:]], "is not a string"),
      (.scalar(.id), ["a", "0"], ["", 1.5, true, "a\u{7}"], "is not an id"),
      (
        .enumeration("Colour"), ["RED", "GREEN"], ["red", "", "BLUE", 0, true],
        "must be one of RED, GREEN"
      ),
    ] as [(LocalField.Kind, [JSONValue], [JSONValue], String)])
  func scalarsAcceptTheirValues(
    kind: LocalField.Kind, taken: [JSONValue], refused: [JSONValue], fault: String
  ) {
    let field = Self.field(kind)
    for value in taken {
      #expect(Self.read(value, field).stored == value, "\(kind) \(value)")
    }
    for value in refused {
      let (stored, faults) = Self.read(value, field)
      #expect(stored == nil, "\(kind) \(value)")
      #expect(faults == [fault], "\(kind) \(value)")
    }
  }

  @Test("An integer is accepted as an ID")
  func integerIsAnID() {
    #expect(Self.read(7, Self.field(.scalar(.id))).stored == "7")
  }

  @Test("Null is accepted only for nullable fields", arguments: LocalScalar.allCases)
  func nullNeedsNullableField(scalar: LocalScalar) {
    #expect(Self.read(.null, Self.field(.scalar(scalar))).stored == JSONValue.null)
    let (stored, faults) = Self.read(.null, Self.field(.scalar(scalar), required: true))
    #expect(stored == nil)
    #expect(faults == ["must not be null"])
  }

  @Test("A pattern must match the whole text")
  func patternMatchesWholeText() throws {
    var rules = LocalRules()
    rules.pattern = try TextPattern("[A-Z]{2}[0-9]+")
    let field = Self.field(.scalar(.string), rules)
    for text in ["AB1", "ZZ99"] {
      #expect(Self.read(.string(text), field).stored == .string(text))
    }
    for text in ["", "AB", "xAB1", "AB1x", "ab1", "AB1\n"] {
      #expect(
        Self.read(.string(text), field).faults == ["does not match [A-Z]{2}[0-9]+"], "\(text)")
    }
    let long = "AB" + String(repeating: "1", count: TextPattern.charactersMax)
    #expect(Self.read(.string(long), field).faults == ["has more than 1000 characters"])
  }

  @Test("All texts of one request share one budget of steps")
  func textsShareABudget() throws {
    var rules = LocalRules()
    rules.pattern = try TextPattern("(.?){300}x")
    let field = Self.field(.scalar(.string), rules)
    var reader = LocalValueReader(schema: LocalSchema.none)
    let text = JSONValue.string(String(repeating: "a", count: 300))
    var count = 0
    while reader.faults.last?.detail.hasPrefix("does not match") != false, count < 100 {
      _ = reader.read(text, field, at: "/\(count)")
      count += 1
    }
    #expect(count > 1)
    #expect(reader.faults.last?.detail.hasPrefix("was not matched") == true, "\(count)")
    #expect(reader.patternBudget > -TextPattern.stepsPerTextMax)
  }

  @Test("Ranges of numbers are inclusive")
  func rangesAreInclusive() {
    var rules = LocalRules()
    (rules.rangeMin, rules.rangeMax) = (-1.5, 2)
    for scalar in [LocalScalar.double, .float] {
      let field = Self.field(.scalar(scalar), rules)
      #expect(Self.read(Self.number("-1.5"), field).faults == [])
      #expect(Self.read(Self.number("2.0"), field).faults == [])
      #expect(Self.read(Self.number("-1.51"), field).faults == ["is less than the minimum -1.5"])
      #expect(Self.read(Self.number("2.01"), field).faults == ["is more than the maximum 2.0"])
    }
  }
}
