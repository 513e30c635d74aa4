import Filtering
import GRDB
import Model
import TestSupport

/// Random filters that have the same meaning as SQL.
struct FilterGenerator {
  /// The way in which values are passed.
  enum Values {
    case literals, positional, named
  }

  var random: SeededGenerator
  var values = Values.literals
  private let dates: DateSpellings
  private let storedDates: [String: String]
  /// The arguments of the parameters used since the last ``takeArguments()``.
  private var arguments = FilterArguments.none
  private var bound: [(any DatabaseValueConvertible)?] = []

  init(random: SeededGenerator, values: Values = .literals) throws {
    self.random = random
    self.values = values
    dates = try DateSpellings()
    storedDates = dates.storedBySpelling
  }

  /// Returns the same filter for SQLite, which compares dates in their stored form. What is missing is
  /// neither null nor a value: unknown.
  func sql(_ filter: String) -> String {
    filter.replacing(#/(\w+) IS (NOT )?(NULL|MISSING)/#) { found in
      let test = found.output.3 == "NULL" ? "= 'null'" : "IS NULL"
      return "(\(found.output.2 == nil ? "" : "NOT ")\(found.output.1)_state \(test))"
    }.replacing(#/'([^']*)'/#) { text in
      storedDates[String(text.output.1)].map { "'\($0)'" } ?? String(text.output.0)
    }
  }

  /// Returns the arguments as texts, and as the values that SQLite compares with. SQLite numbers
  /// parameters by their first occurrence, and each name occurs once.
  mutating func takeArguments() -> (FilterArguments, StatementArguments) {
    defer { (arguments, bound) = (.none, []) }
    return (arguments, StatementArguments(bound))
  }

  mutating func filter(depth: Int = 3) -> String {
    switch depth == 0 ? 0 : Int.random(in: 0..<6, using: &random) {
    case 1: "\(filter(depth: depth - 1)) AND \(filter(depth: depth - 1))"
    case 2: "\(filter(depth: depth - 1)) OR \(filter(depth: depth - 1))"
    case 3: "NOT \(filter(depth: depth - 1))"
    case 4: "(\(filter(depth: depth - 1)))"
    default: predicate()
    }
  }

  private mutating func predicate() -> String {
    let column = pick(["title", "year", "rating", "director", "id", "released", "watched"])
    let not = pick(["", "NOT "])
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return "\(column) IS \(not)\(pick(["NULL", "MISSING"]))"
    case 1: return "\(column) \(not)IN (\(value(column)), \(value(column)))"
    case 2: return "\(column) \(not)BETWEEN \(value(column)) AND \(value(column))"
    case 3: return "title \(not)LIKE \(pick(["'a%'", "'%L%'", "'_l_'", "'a!%b' ESCAPE '!'"]))"
    case 4: return "seen"
    case 5: return pick(["year \(comparison()) rating", "released \(comparison()) watched"])
    case 6: return "\(value(column)) \(comparison()) \(column)"
    default: return "\(column) \(comparison()) \(value(column))"
    }
  }

  private mutating func comparison() -> String {
    pick(["=", "==", "!=", "<>", "<", "<=", ">", ">="])
  }

  private mutating func value(_ column: String) -> String {
    let literal = literal(column)
    guard values != .literals else { return literal }
    let text = literal.hasPrefix("'") ? String(literal.dropFirst().dropLast()) : literal
    switch column {
    case "year", "rating": bound.append(Double(text) ?? 0)
    default: bound.append(storedDates[text] ?? text)
    }
    guard values == .named else {
      arguments.positional.append(text)
      return "?"
    }
    let name = "v\(bound.count)"
    arguments.named[name] = text
    return ":\(name)"
  }

  private mutating func literal(_ column: String) -> String {
    switch column {
    case "year": pick(["1991", "1992", "1993.5", "-1"])
    case "rating": pick(["0", "1", "1.5", "+2e0"])
    case "director": pick(["'p0'", "'p1'", "'x'"])
    case "id": pick(["'f1'", "'f20'", "'f7'"])
    case "released", "watched":
      "'\(pick(dates.spellings[pick(DateSpellings.stored)] ?? []))'"
    default: pick(["'Alien'", "''", "10", "'b'"])
    }
  }

  mutating func order() -> String {
    let columns = ["title", "year", "rating", "seen", "director", "released"].shuffled(
      using: &random)
    return columns.prefix(Int.random(in: 1...3, using: &random)).map { column in
      (Bool.random(using: &random) ? "-" : "") + column
    }.joined(separator: ",")
  }

  private mutating func pick(_ choices: [String]) -> String {
    choices[Int.random(in: 0..<choices.count, using: &random)]
  }
}
