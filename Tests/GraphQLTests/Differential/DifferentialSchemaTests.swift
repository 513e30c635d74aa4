import GraphQL
import LosslessJSON
import TestSupport
import Testing

/// Schemas against the reference implementation: the rules for SDL, the validity of the type system,
/// and introspection.
struct DifferentialSchemaTests {
  private static let mutantsOfASchema = 50

  @Test("Schema faults agree with the reference implementation")
  func agreesWithTheReferenceOnSchemas() throws {
    var texts = try Self.schemas()
    var random = SeededGenerator(seed: 77)
    for text in texts {
      let document = try Parser.parse(Source(body: text))
      for _ in 0..<Self.mutantsOfASchema {
        texts.append(Printer.print(Self.mutated(document, &random)))
      }
    }
    let verdicts = try ReferenceValidator().judge(texts.map { ["sdl": .string($0)] })
    var brokenCount = 0
    for (text, verdict) in zip(texts, verdicts) {
      let (document, syntaxFaults) = Parser.parseRecovering(Source(body: text))
      let faults =
        syntaxFaults.isEmpty ? Schema.buildRecovering([document]).faults : syntaxFaults
      let isBroken = !verdict.places.isEmpty
      if isBroken { brokenCount += 1 }
      // The soundness of a schema is judged by the reference only when its SDL rules pass.
      let expected = verdict.rules.subtracting(["Schema"])
      let own = Set(faults.filter(Self.isReferenceRule).map(\.rule.rawValue))
      #expect(own.subtracting(["Schema"]) == expected, "\(faults)\n\(verdict.places)\n\(text)")
      #expect(isBroken == !own.isEmpty, "\(faults)\n\(verdict.places)\n\(text)")
    }
    #expect(brokenCount > texts.count / 3)
    #expect(brokenCount < texts.count * 9 / 10)
  }

  @Test("Introspection of the reference implementation is read", arguments: IntrospectionQuery.all)
  func readsReferenceIntrospection(query: String) throws {
    let texts = try Self.schemas()
    let answers = try ReferenceValidator().answers(
      to: texts.map { ["schema": .string($0), "query": .string(query)] })
    for (text, answer) in zip(texts, answers) {
      let declared = try Schema.build(sdl: text)
      let read = try Schema.build(introspection: answer)
      #expect(read.validate().isEmpty)
      for type in declared.types where !type.name.hasPrefix("__") {
        let other = try #require(read.type(named: type.name))
        #expect(other.kind == type.kind)
        #expect(
          other.fields.map { "\($0.name): \($0.type)" }
            == type.fields.map { "\($0.name): \($0.type)" })
        #expect(other.fields.map(\.arguments.names) == type.fields.map(\.arguments.names))
        #expect(other.fields.map(\.deprecationReason) == type.fields.map(\.deprecationReason))
        #expect(Set(other.interfaces) == Set(type.interfaces))
        #expect(other.members == type.members)
        #expect(other.values.names == type.values.names)
        #expect(other.inputFields.map(\.defaultValue) == type.inputFields.map(\.defaultValue))
        if query == IntrospectionQuery.newest { #expect(other.isOneOf == type.isOneOf) }
        if query != IntrospectionQuery.june2018 {
          #expect(other.specifiedByURL == type.specifiedByURL)
        }
      }
      let again = try Schema.build(sdl: read.sdl)
      #expect(again.sdl == read.sdl)
    }
  }

  /// Rules that the reference's list for SDL lacks.
  private static func isReferenceRule(_ fault: Fault) -> Bool {
    fault.rule != .valuesOfCorrectType && !fault.message.contains("default value of")
      && !fault.message.contains("root types must be different")
  }

  private static func schemas() throws -> [String] {
    var texts = [
      try ReferenceValidator.fixture("films.graphql"),
      try ReferenceValidator.fixture("beasts.graphql"),
    ]
    for seed in 1...4 as ClosedRange<UInt64> {
      var generator = SchemaGenerator(seed: seed)
      texts.append(generator.sdl())
    }
    return texts
  }

  private static func mutated(_ document: Document, _ random: inout SeededGenerator) -> Document {
    var document = document
    for _ in 0..<Int.random(in: 1...2, using: &random) {
      let index = Int.random(in: 0..<document.definitions.count, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: document.definitions.append(document.definitions[index])
      case 1: document.definitions.remove(at: index)
      case 2:
        guard case .type(var type) = document.definitions[index] else { continue }
        type.isExtension = true
        type.description = nil
        document.definitions.append(.type(type))
      default:
        guard case .type(var type) = document.definitions[index] else { continue }
        change(&type, document, &random)
        document.definitions[index] = .type(type)
      }
    }
    return document
  }

  private static func change(
    _ type: inout TypeDefinition, _ document: Document, _ random: inout SeededGenerator
  ) {
    let names = document.definitions.compactMap { definition -> Name? in
      if case .type(let type) = definition { type.name } else { nil }
    }
    let name = (names + [Name("Missing")]).randomElement(using: &random) ?? Name("Missing")
    let reference: TypeReference =
      Bool.random(using: &random) ? .named(name) : .nonNull(.named(name))
    if Int.random(in: 0..<8, using: &random) == 0 {
      let directives = ["deprecated", "oneOf", "specifiedBy", "unknown"]
      let directive = Directive(name: Name(directives.randomElement(using: &random) ?? "x"))
      type.directives += Bool.random(using: &random) ? [directive] : [directive, directive]
      return
    }
    switch type.body {
    case .scalar: type.name.value = "__" + type.name.value
    case .object(let interfaces, let fields):
      let changed = Bool.random(using: &random)
      type.body = .object(
        interfaces: changed ? interfaces + [name] : interfaces,
        fields: changed ? fields : Self.changed(fields, reference, &random))
    case .interface(let interfaces, let fields):
      let changed = Bool.random(using: &random)
      type.body = .interface(
        interfaces: changed ? interfaces + [name] : interfaces,
        fields: changed ? fields : Self.changed(fields, reference, &random))
    case .union(let members): type.body = .union(members: members + [name])
    case .enum(let values): type.body = .enum(values: values + values.prefix(1))
    case .inputObject(var fields):
      fields[Int.random(in: 0..<fields.count, using: &random)].type = reference
      if Bool.random(using: &random) { fields.append(fields[0]) }
      type.body = .inputObject(fields: fields)
    }
  }

  private static func changed(
    _ fields: [FieldDefinition], _ type: TypeReference, _ random: inout SeededGenerator
  ) -> [FieldDefinition] {
    var fields = fields
    let index = Int.random(in: 0..<fields.count, using: &random)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: fields.remove(at: index)
    case 1: fields[index].type = type
    case 2: fields.append(fields[index])
    case 3:
      let argument = InputValueDefinition(name: Name("more"), type: type)
      fields[index].arguments += Bool.random(using: &random) ? [argument] : [argument, argument]
    default: fields[index].arguments = Array(fields[index].arguments.dropFirst())
    }
    return fields
  }
}
