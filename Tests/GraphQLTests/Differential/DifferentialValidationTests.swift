import GraphQL
import LosslessJSON
import TestSupport
import Testing

/// Every rule against the reference implementation, over generated documents and their mutations.
struct DifferentialValidationTests {
  private struct Case {
    let sdl: String
    let schema: Schema
    let text: String
    let seed: UInt64
  }

  private static let validDocumentsOfASchema = 25
  private static let mutationsOfARule = 40

  @Test("Generated documents have the same faults as in the reference implementation")
  func agreesWithTheReferenceOnEveryRule() throws {
    let reference = try ReferenceValidator()
    let cases = try Self.cases()
    #expect(cases.count >= 1_000)
    let verdicts = try reference.judge(
      cases.map { ["schema": .string($0.sdl), "document": .string($0.text)] })
    var violations: [String: Int] = [:]
    var validCount = 0
    for (testCase, verdict) in zip(cases, verdicts) {
      Self.compare(testCase, verdict)
      if verdict.places.isEmpty { validCount += 1 }
      for rule in verdict.rules { violations[rule, default: 0] += 1 }
    }
    #expect(validCount >= 100)
    let failed = verdicts.flatMap(\.failed)
    #expect(failed.count < cases.count / 20, "\(failed)")
    for rule in Rule.executable where rule != .knownOperationTypes {
      #expect(violations[rule.rawValue, default: 0] >= 20, "too few documents break \(rule)")
    }
  }

  /// Handwritten documents, each about one corner case of the rules.
  @Test("Handwritten documents have the same faults as in the reference implementation")
  func agreesWithTheReferenceOnHandwrittenDocuments() throws {
    let sdl = try ReferenceValidator.fixture("beasts.graphql")
    let schema = try Schema.build(sdl: sdl)
    let texts = try ReferenceValidator.fixture("beasts-documents.txt").split(separator: "\n---\n")
    #expect(texts.count > 80)
    let cases = texts.map { Case(sdl: sdl, schema: schema, text: String($0), seed: 0) }
    let verdicts = try ReferenceValidator().judge(
      cases.map { ["schema": .string($0.sdl), "document": .string($0.text)] })
    for (testCase, verdict) in zip(cases, verdicts) { Self.compare(testCase, verdict) }
  }

  /// The same rules are broken at the same places. How repeated names are reported (one fault for all or
  /// one for each) and overlaps are described is arbitrary: the number of faults is not compared, and for
  /// overlaps only whether there is one.
  private static func compare(_ testCase: Case, _ verdict: ReferenceValidator.Verdict) {
    let (document, syntaxFaults) = Parser.parseRecovering(Source(body: testCase.text))
    #expect(syntaxFaults.isEmpty, "seed \(testCase.seed)")
    let rules = Rule.executable.subtracting([.knownOperationTypes])
    let faults = Validator.validate(document, against: testCase.schema, rules: rules)
      .filter { !verdict.failed.contains($0.rule.rawValue) }
    let own = Set(faults.map(\.rule.rawValue))
    let onlyOne = own.symmetricDifference(verdict.rules)
    #expect(
      onlyOne.isEmpty,
      """
      seed \(testCase.seed): only one of both reports \(onlyOne.sorted())
      reference: \(verdict.places)
      own: \(faults)
      \(testCase.text)
      \(testCase.sdl)
      """)
    guard onlyOne.isEmpty else { return }
    let overlap = Rule.overlappingFieldsCanBeMerged.rawValue
    let places = faults.map { fault in
      let position = fault.positions.first
      return ReferenceValidator.Place(
        rule: fault.rule.rawValue, line: position?.line ?? 0, column: position?.column ?? 0)
    }
    #expect(
      Set(places.filter { $0.rule != overlap })
        == Set(verdict.places.filter { $0.rule != overlap }),
      "seed \(testCase.seed)\n\(testCase.text)")
  }

  private static func cases() throws -> [Case] {
    var texts = [
      try ReferenceValidator.fixture("films.graphql"),
      try ReferenceValidator.fixture("beasts.graphql"),
    ]
    for seed in 1...4 as ClosedRange<UInt64> {
      var generator = SchemaGenerator(seed: seed)
      texts.append(generator.sdl())
    }
    var cases: [Case] = []
    var seed: UInt64 = 0
    let schemas = try texts.map { (sdl: $0, schema: try Schema.build(sdl: $0)) }
    for (sdl, schema) in schemas {
      for _ in 0..<validDocumentsOfASchema {
        seed += 1
        cases.append(
          Case(sdl: sdl, schema: schema, text: document(schema, seed, rule: nil), seed: seed))
      }
    }
    for rule in Rule.executable.sorted(by: { $0.rawValue < $1.rawValue }) {
      for index in 0..<mutationsOfARule where rule != .knownOperationTypes {
        seed += 1
        let (sdl, schema) = schemas[index % schemas.count]
        cases.append(
          Case(sdl: sdl, schema: schema, text: document(schema, seed, rule: rule), seed: seed))
      }
    }
    return cases
  }

  /// A valid document, or one with a change aimed at the rule and sometimes another change.
  private static func document(_ schema: Schema, _ seed: UInt64, rule: Rule?) -> String {
    var generator = DocumentGenerator(schema: schema, random: SeededGenerator(seed: seed))
    let document = generator.document()
    guard let rule else { return Printer.print(document) }
    var editor = DocumentEditor(document: document, random: generator.random)
    let mutation = DocumentMutation.mutations(for: rule).randomElement(using: &editor.random)
    mutation?.apply(&editor, schema)
    if Int.random(in: 0..<4, using: &editor.random) == 0 {
      let other = DocumentMutation.all.randomElement(using: &editor.random)
      other?.apply(&editor, schema)
    }
    return Printer.print(editor.document)
  }
}
