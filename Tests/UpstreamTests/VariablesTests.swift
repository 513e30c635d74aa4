import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Upstream

struct VariablesTests {
  struct Given: Sendable, CustomTestStringConvertible {
    let declaration: String
    let query: [(String, String)]
    let json: String
    let canonical: String

    init(
      _ declaration: String, _ query: [(String, String)], _ json: String,
      canonical: String? = nil
    ) {
      self.declaration = declaration
      self.query = query
      self.json = json
      self.canonical = canonical ?? json
    }

    var testDescription: String { "\(declaration) \(query)" }
  }

  static func coerce(
    _ declaration: String, _ input: VariableInput, settings: RegistrySettings = RegistrySettings()
  ) throws -> Result<Variables, VariableFaults> {
    let operation = try operation(declaration, settings: settings)
    return Result { () throws(VariableFaults) in try operation.coerce(input) }
  }

  @Test("At most one hundred faults of a body are reported")
  func faultsAreBounded() throws {
    let members = (0..<5_000).map { JSONMember("lang\($0)", .null) }
    let body = JSONValue.object(members).bytes
    for declaration in ["$lang: String", "$filter: FilmFilter"] {
      let result = try Self.coerce(declaration, .body(body, path: []))
      guard case .failure(let faults) = result else {
        Issue.record("taken")
        continue
      }
      #expect(faults.all.count == Failure.Detail.countMax)
      #expect(faults.all.count { $0.detail.contains("Did you mean") } <= 20)
    }
  }

  @Test("Parameters of entity reads are refused with where they belong, unless they are variables")
  func parametersOfEntitiesAreExplained() throws {
    for name in ["include", "view"] {
      let query = [VariableInput.Parameter(name, "director")]
      let refused = try Self.coerce("$lang: String", .parameters(path: [], query: query))
      guard case .failure(let faults) = refused else {
        Issue.record("\(name) is taken")
        continue
      }
      #expect(faults.all.map(\.place) == [.parameter(name)])
      #expect(faults.all.first?.detail.contains("/v1/entities/{Type}") == true, "\(faults)")
      let taken = try Self.coerce("$\(name): String", .parameters(path: [], query: query))
      #expect(try taken.get().json == #"{"\#(name)":"director"}"#)
    }
  }

  private static func operation(
    _ declaration: String, settings: RegistrySettings
  ) throws -> RegisteredOperation {
    let name = declaration.split(separator: ":")[0]
    // A field that accepts anything, so that any variable is used and allowed.
    let type = declaration.split(separator: ":")[1].split(separator: "=")[0]
    let schema =
      Samples.schema + "\nextend type Query { take(value: \(type)): String }"
      + "\ninput KeyedInput { id: ID  other: ID = \"~a\"  meta: JSON }"
    return try Samples.operation(
      "query Take(\(declaration)) { take(value: \(name)) }", settings: settings, schema: schema)
  }

  static func parameters(_ query: [(String, String)]) -> VariableInput {
    .parameters(path: [], query: query.map { VariableInput.Parameter($0.0, $0.1) })
  }

  @Test(
    "Query strings are read by the declared types",
    arguments: [
      Given("$zip: String!", [("zip", "01234")], #"{"zip":"01234"}"#),
      Given("$zip: String", [("zip", "null")], #"{"zip":null}"#),
      Given("$zip: String!", [("zip", "null")], #"{"zip":"null"}"#),
      Given("$zip: String", [], "{}"),
      Given("$id: ID!", [("id", "007")], #"{"id":"007"}"#),
      Given("$n: Int!", [("n", "-5")], #"{"n":-5}"#),
      Given("$n: Int = 7", [], "{}", canonical: #"{"n":7}"#),
      Given("$n: Int! = 7", [("n", "8")], #"{"n":8}"#),
      Given("$x: Float", [("x", "1.50")], #"{"x":1.50}"#, canonical: #"{"x":1.5}"#),
      Given("$x: Float", [("x", "15e-1")], #"{"x":15e-1}"#, canonical: #"{"x":1.5}"#),
      Given("$b: Boolean!", [("b", "true")], #"{"b":true}"#),
      Given("$s: Size!", [("s", "LARGE")], #"{"s":"LARGE"}"#),
      Given("$ids: [Int!]", [("ids", "1"), ("ids", "2")], #"{"ids":[1,2]}"#),
      Given("$ids: [ID!]!", [("ids", "a")], #"{"ids":["a"]}"#),
      Given("$ids: [Int]", [("ids", "[1,null]")], #"{"ids":[1,null]}"#),
      Given("$ids: [Int]", [("ids", "[]")], #"{"ids":[]}"#),
      Given("$t: [String!]", [("t", "[not json")], #"{"t":["[not json"]}"#),
      Given(
        "$f: FilmFilter", [("f.year.gt", "1990"), ("f.genres", "a"), ("f.genres", "b")],
        #"{"f":{"year":{"gt":1990},"genres":["a","b"]}}"#,
        canonical: #"{"f":{"genres":["a","b"],"year":{"gt":1990}}}"#),
      Given(
        "$f: FilmFilter", [("f", #"{"year":{"lt":5}}"#)], #"{"f":{"year":{"lt":5}}}"#),
      Given(
        "$c: Crop", [("c.w", "3")], #"{"c":{"w":3}}"#, canonical: #"{"c":{"w":3,"x":0,"y":0}}"#),
      Given("$d: Decimal", [("d", "0.10")], #"{"d":"0.10"}"#),
      Given(
        "$j: JSON", [("j", #"{"b":1,"a":[2]}"#)], #"{"j":{"b":1,"a":[2]}}"#,
        canonical: #"{"j":{"a":[2],"b":1}}"#),
      Given("$j: JSON", [("j", "{broken")], #"{"j":"{broken"}"#),
    ])
  func readsQueryStringsByDeclaredType(_ given: Given) throws {
    let variables = try Self.coerce(given.declaration, Self.parameters(given.query)).get()
    #expect(variables.json == given.json)
    #expect(variables.canonical == given.canonical)
  }

  @Test("Custom scalars that settings declare as numbers are read as numbers")
  func readsScalarNumbers() throws {
    let settings = RegistrySettings(scalarNumbers: ["Decimal": .real, "Date": .integer])
    let decimal = try Self.coerce(
      "$d: Decimal", Self.parameters([("d", "0.10")]), settings: settings
    ).get()
    #expect(decimal.json == #"{"d":0.10}"#)
    #expect(decimal.canonical == #"{"d":0.1}"#)
    let big = try Self.coerce(
      "$d: Date", Self.parameters([("d", "9223372036854775808")]), settings: settings
    ).get()
    #expect(big.json == #"{"d":9223372036854775808}"#)
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    let declaration: String
    let query: [(String, String)]
    /// The faulty parameters, each with a word of its message.
    let faults: [(String, String)]

    init(_ declaration: String, _ query: [(String, String)], _ faults: [(String, String)]) {
      self.declaration = declaration
      self.query = query
      self.faults = faults
    }

    var testDescription: String { "\(declaration) \(query)" }
  }

  @Test(
    "Every faulty parameter is reported",
    arguments: [
      Refused("$n: Int!", [], [("n", "required (Int!)")]),
      Refused("$n: Int!", [("n", "null")], [("n", "integer")]),
      Refused("$n: Int!", [("n", "1.5")], [("n", "integer")]),
      Refused("$n: Int!", [("n", "2147483648")], [("n", "32-bit")]),
      Refused("$n: Int!", [("n", "01")], [("n", "01")]),
      Refused("$n: Int!", [("n", "")], [("n", "integer")]),
      Refused("$n: Int", [("n", "1"), ("n", "2")], [("n", "more than once")]),
      Refused("$x: Float", [("x", "NaN")], [("x", "number")]),
      Refused("$x: Float", [("x", "1e400")], [("x", "number")]),
      Refused("$b: Boolean", [("b", "yes")], [("b", "true or false")]),
      Refused("$s: Size", [("s", "LARG")], [("s", "Did you mean \"LARGE\"")]),
      Refused("$ids: [Int!]", [("ids", "1"), ("ids", "x")], [("ids", "integer")]),
      Refused("$zip: String", [("zpi", "1")], [("zpi", "Did you mean \"zip\"")]),
      Refused("$zip: String", [("zip.a", "1")], [("zip.a", "one value")]),
      Refused(
        "$f: FilmFilter", [("f.yaer.gt", "1"), ("f.title", "x"), ("f.year.gt", "y")],
        [("f.yaer", "\"year\""), ("f.year.gt", "integer")]),
      Refused("$c: Crop", [("c.x", "1")], [("c", "/w is required")]),
      Refused("$c: Crop", [("c", "5")], [("c", "object of type Crop")]),
      Refused("$c: Crop", [("c", #"{"w":1}"#), ("c.x", "1")], [("c", "as members")]),
    ])
  func reportsFaultyParameters(_ refused: Refused) throws {
    let result = try Self.coerce(refused.declaration, Self.parameters(refused.query))
    guard case .failure(let faults) = result else {
      Issue.record("accepted: \(result)")
      return
    }
    #expect(faults.all.map(\.place) == refused.faults.map { .parameter($0.0) })
    for (fault, (_, word)) in zip(faults.all, refused.faults) {
      #expect(fault.detail.contains(word), "\(fault.detail)")
    }
  }

  @Test(
    "Bodies are read",
    arguments: [
      ("$id: ID!", #"{"id":9}"#, #"{"id":"9"}"#, #"{"id":"9"}"#),
      ("$n: Int", #"{"n":1.0}"#, #"{"n":1}"#, #"{"n":1}"#),
      ("$n: Int = 3", #"{"n":null}"#, #"{"n":null}"#, #"{"n":null}"#),
      ("$ids: [Int]", #"{"ids":5}"#, #"{"ids":[5]}"#, #"{"ids":[5]}"#),
      (
        "$j: JSON", #"{"j":{"z":0.10,"a":9223372036854775808}}"#,
        #"{"j":{"z":0.10,"a":9223372036854775808}}"#,
        #"{"j":{"a":9223372036854775808,"z":0.10}}"#
      ),
    ])
  func readsBodies(declaration: String, body: String, json: String, canonical: String) throws {
    let variables = try Self.coerce(declaration, .body(Array(body.utf8))).get()
    #expect(variables.json == json)
    #expect(variables.canonical == canonical)
  }

  @Test(
    "Every fault of a body is reported with its pointer",
    arguments: [
      ("$n: Int!", #"{"n":"1"}"#, ["/n"]),
      ("$n: Int!", "{}", ["n"]),
      ("$n: Int!", "[]", [""]),
      ("$n: Int", "{", [""]),
      ("$n: Int", #"{"n":1,"n":2}"#, ["/n"]),
      ("$n: Int", #"{"m":1}"#, ["/m"]),
      (
        "$f: FilmFilter", #"{"f":{"and":[{"year":{"gt":1}},{"year":{"gt":"x"}}],"x/y":1}}"#,
        ["/f/and/1/year/gt", "/f/x~1y"]
      ),
    ])
  func reportsBodyFaults(declaration: String, body: String, places: [String]) throws {
    let result = try Self.coerce(declaration, .body(Array(body.utf8)))
    guard case .failure(let faults) = result else {
      Issue.record("accepted: \(result)")
      return
    }
    let found = faults.all.map { fault in
      switch fault.place {
      case .pointer(let text): text
      case .parameter(let name): name
      }
    }
    #expect(found == places)
  }

  @Test("Path parameters can be combined with a body")
  func readsPathParametersWithBody() throws {
    let path = [VariableInput.Parameter("id", "9")]
    let agreeing = try Self.coerce("$id: ID!", .body(Array(#"{"id":9}"#.utf8), path: path)).get()
    #expect(agreeing.json == #"{"id":"9"}"#)
    let result = try Self.coerce("$id: ID!", .body(Array(#"{"id":8}"#.utf8), path: path))
    #expect(throws: VariableFaults.self) { try result.get() }
  }

  @Test(
    "Equal numbers have one canonical form",
    arguments: [
      ("0", "0"), ("-0", "0"), ("0.000", "0"), ("100", "100"), ("1e2", "100"), ("1.0", "1"),
      ("0.10", "0.1"), ("12.340e1", "123.4"), ("-5e-3", "-0.005"), ("1e99", "1e99"),
      ("9223372036854775808", "9223372036854775808"),
    ])
  func canonicalNumber(digits: String, canonical: String) throws {
    let number = try #require(JSONNumber(digits: digits))
    #expect(CanonicalNumber.of(number).digits == canonical)
  }

  @Test("Canonical numbers are stable for any JSON number")
  func canonicalNumberIsStable() throws {
    for digits in HostileValues.jsonNumbers + HostileValues.long {
      guard let number = JSONNumber(digits: digits) else { continue }
      let once = CanonicalNumber.of(number)
      #expect(CanonicalNumber.of(once) == once, "\(digits)")
      let integer = CanonicalNumber.integer(number)?.digits
      #expect(integer?.drop { $0 == "-" }.allSatisfy(\.isWholeNumber) ?? true, "\(digits)")
    }
  }

  @Test(
    "Replacing given strings equals coercing the replaced variables",
    arguments: [
      ("$v: ID!", #"{"v":"~a"}"#), ("$v: [ID!]", #"{"v":["~a",7,"b"]}"#),
      ("$v: [ID!]", #"{"v":"~a"}"#), ("$v: ID = \"~a\"", "{}"), ("$v: String", #"{"v":"~a"}"#),
      ("$v: FilmFilter", #"{"v":{"year":{"gt":1},"and":[{"title":"~a"},{"genres":"~a"}]}}"#),
      ("$v: KeyedInput", #"{"v":{"id":"~a","meta":{"x":["~a",1.50,{"~a":"~a"}]}}}"#),
      ("$v: KeyedInput", #"{"v":{"meta":{"x":[{"a":1}],"x":[{"b":"~a"}]},"id":"x"}}"#),
      ("$v: [KeyedInput]", #"{"v":[{"id":"~a","other":"~a"},null,{"id":1}]}"#),
      ("$v: Decimal", #"{"v":"~a"}"#),
    ])
  func replacesGivenStrings(declaration: String, json: String) throws {
    func replace(_ value: JSONValue) -> JSONValue {
      switch value {
      case .string("~a"): .string("9")
      case .array(let values): .array(values.map(replace))
      case .object(let members):
        .object(members.map { JSONMember($0.name, replace($0.value)) })
      default: value
      }
    }
    let operation = try Self.operation(
      declaration, settings: RegistrySettings(scalarNumbers: ["Decimal": .real]))
    let coerced = try operation.coerce(.body(Array(json.utf8)))
    let given = try JSONValue(parsing: coerced.json)
    let replaced = coerced.replacingStrings(in: given, replace)
    let again = try operation.coerce(.body(replace(given).bytes))
    #expect(replaced.json == again.json)
    #expect(replaced.canonical == again.canonical)
  }

  @Test(
    "Any value is coerced or refused",
    arguments: [
      "$v: Int", "$v: Float", "$v: ID", "$v: String", "$v: Boolean", "$v: Size", "$v: [Int!]",
      "$v: Decimal", "$v: JSON", "$v: Crop", "$v: FilmFilter",
    ])
  func anyValueIsCoercedOrRefused(declaration: String) throws {
    let operation = try Self.operation(
      declaration, settings: RegistrySettings(scalarNumbers: ["Decimal": .real]))
    func isReadOrRefused(_ input: VariableInput) -> Bool {
      do throws(VariableFaults) {
        _ = try operation.coerce(input).canonical
        return true
      } catch {
        return !error.all.isEmpty
      }
    }
    for text in HostileValues.all {
      #expect(isReadOrRefused(Self.parameters([("v", text)])), "\(text)")
      let values = [JSONValue.string(text)] + (JSONNumber(digits: text).map { [.number($0)] } ?? [])
      for value in values {
        for shape in [value, .array([value]), ["w": value], ["year": ["gt": value]]] {
          let body = JSONValue.object([JSONMember("v", shape)]).bytes
          #expect(isReadOrRefused(.body(body)), "\(text)")
        }
      }
    }
  }
}
