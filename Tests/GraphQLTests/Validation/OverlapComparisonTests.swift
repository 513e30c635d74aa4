import GraphQL
import Testing

/// Expensive documents: validation must end soon with the right result.
struct OverlapComparisonTests {
  private static let sdl = "type Query { q(a: Int): Query! i: Int! s: String }"

  private static func faults(_ text: String, rules: Set<Rule> = [.overlappingFieldsCanBeMerged])
    throws
    -> [Fault]
  {
    let document = try Parser.parse(Source(body: text))
    return Validator.validate(document, against: try Schema.build(sdl: sdl), rules: rules)
  }

  /// Each level doubles the number of paths to the last.
  @Test("Selection sets reached by many paths are compared once")
  func comparesSharedPathsOnce() throws {
    let levels = 40
    let fragments = (0..<levels).map { level in
      let next = level + 1 == levels ? "x: i" : "...F\(level + 1)"
      return "fragment F\(level) on Query { a: q { \(next) } a: q { \(next) } b: q { \(next) } }"
    }
    let text = "{ ...F0 }\n" + fragments.joined(separator: "\n")
    #expect(try Self.faults(text).isEmpty)
    let broken = text.replacing("x: i", with: "x: i x: s")
    #expect(try !Self.faults(broken).isEmpty)
  }

  @Test("A conflict is found through many levels")
  func findsDeepConflicts() throws {
    let depth = 60
    let open = String(repeating: "q { ", count: depth)
    let close = String(repeating: "} ", count: depth)
    let faults = try Self.faults("{ \(open) x: i \(close) \(open) x: s \(close) }")
    #expect(faults.count == 1)
    #expect(faults[0].message.contains("subfields \"x\""))
    #expect(faults[0].locations.count == 4)
  }

  @Test("Repeated equal fields are compared once")
  func comparesRepeatedFieldsOnce() throws {
    let same = String(repeating: "i q(a: 1) { s } ", count: 5_000)
    #expect(try Self.faults("{ \(same) }").isEmpty)
    #expect(try Self.faults("{ \(same) q(a: 2) { s } }").count == 1)
  }

  @Test("A document that exceeds the work limit is a fault")
  func reportsTooManyComparisons() throws {
    let fields = (0..<1_500).map { "q { f\($0): i }" }.joined(separator: " ")
    let faults = try Self.faults("{ \(fields) }")
    #expect(faults.count == 1)
    #expect(faults[0].message.contains("Too many fields"))
  }

  @Test("Too deeply nested fragments are a fault")
  func reportsTooManyFragments() throws {
    let count = 6_000
    let chain = (0..<count).map { "fragment F\($0) on Query { a\($0): i ...F\($0 + 1) }" }
    let text = "{ ...F0 }\n" + chain.joined(separator: "\n") + "\nfragment F\(count) on Query { i }"
    #expect(try Self.faults(text).contains { $0.message.contains("Too many fields") })
  }

  @Test("A long chain of fragments is followed to its end")
  func followsFragmentChains() throws {
    let count = 20_000
    let chain = (0..<count).map { "fragment F\($0) on Query { q { ...F\(($0 + 1) % count) } }" }
    let text = "{ ...F0 }\n" + chain.joined(separator: "\n")
    let faults = try Self.faults(
      text, rules: Rule.executable.subtracting([.overlappingFieldsCanBeMerged]))
    #expect(faults.map(\.rule) == [.noFragmentCycles])
    #expect(faults[0].locations.count == count)
  }

  @Test("Comparing cyclic fragments ends")
  func endsOnCyclicFragments() throws {
    let text =
      "{ ...A } fragment A on Query { q { ...B } } fragment B on Query { q { ...A x: i } x: s }"
    #expect(try Self.faults(text).isEmpty)
    #expect(try Self.faults(text + " query Q { q { x: i ...B } }").count == 1)
  }
}
