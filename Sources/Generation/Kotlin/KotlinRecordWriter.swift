import Model

/// Writes data classes, sealed interfaces and interfaces in Kotlin.
struct KotlinRecordWriter {
  let names = LanguageNames.kotlin
  var code: CodeWriter

  init(_ code: CodeWriter) {
    self.code = code
  }

  /// Writes the inside of a type with other code.
  mutating func block(
    _ opening: String, closing: String = "}", _ body: (inout KotlinRecordWriter) -> Void
  ) {
    code.block(opening, closing: closing) { code in
      var inner = KotlinRecordWriter(code)
      body(&inner)
      code = inner.code
    }
  }

  mutating func comment(_ text: String?) {
    guard let text = text?.replacing("*/", with: "*\u{200B}/").replacing("/*", with: "/\u{200B}*")
    else { return }
    code.line("/**")
    code.comment(text, mark: " * ")
    code.line(" */")
  }

  // MARK: Types

  mutating func shape(_ shape: CodeShape) {
    switch shape {
    case .record(let record): self.record(record)
    case .choice(let choice): self.choice(choice)
    }
  }

  /// - Parameters:
  ///   - supertypes: besides the contracts of its fragments.
  ///   - inherited: members that a supertype declares.
  ///   - inside: what else is inside the class.
  mutating func record(
    _ record: CodeRecord, supertypes: [String] = [], inherited: Set<String> = [],
    inside: ((inout KotlinRecordWriter) -> Void)? = nil
  ) {
    let declared = inherited.union(record.contracts.flatMap { $0.properties.map(\.wire) })
    let supers = supertypes + record.contracts.map(\.name)
    let clause = supers.isEmpty ? "" : " : " + supers.joined(separator: ", ")
    code.line("@Serializable")
    parameters(
      record.name, record.properties, closing: ")" + clause, overriding: declared,
      hasBody: !record.nested.isEmpty || inside != nil)
    guard !record.nested.isEmpty || inside != nil else { return }
    code.indented { code in
      var writer = KotlinRecordWriter(code)
      for (index, nested) in record.nested.enumerated() {
        if index > 0 { writer.code.line() }
        writer.shape(nested.shape)
      }
      if let inside {
        if !record.nested.isEmpty { writer.code.line() }
        inside(&writer)
      }
      code = writer.code
    }
    code.line("}")
  }

  /// Writes a class up to its body. A data class needs a member.
  mutating func parameters(
    _ name: String, _ properties: [CodeProperty], closing: String, overriding: Set<String> = [],
    hasBody: Bool = false
  ) {
    let end = closing + (hasBody ? " {" : "")
    guard !properties.isEmpty else { return code.line("class \(name)(\(end)") }
    block("data class \(name)(", closing: end) { writer in
      for property in properties {
        writer.comment(property.documentation)
        if property.name != property.wire {
          writer.code.line("@SerialName(\(KotlinTypes.quoted(property.wire)))")
        }
        writer.code.line(writer.parameter(property, overrides: overriding.contains(property.wire)))
      }
    }
  }

  private func parameter(_ property: CodeProperty, overrides: Bool) -> String {
    let fallback =
      property.isOptional ? "null" : KotlinTypes.literal(property.fallback, property.type)
    return (overrides ? "override val " : "val ") + names.written(property.name) + ": "
      + KotlinTypes.text(property) + (fallback.map { " = \($0)" } ?? "") + ","
  }

  private mutating func choice(_ choice: CodeChoice) {
    let asked = Set(choice.contracts.flatMap { $0.properties.map(\.wire) })
    let shared = Set(choice.shared.map(\.wire))
    let supers = choice.contracts.map(\.name)
    let clause = supers.isEmpty ? "" : " : " + supers.joined(separator: ", ")
    code.line("@Serializable(with = \(choice.name).Serializer::class)")
    block("sealed interface \(choice.name)\(clause) {") { writer in
      for property in choice.shared {
        let modifier = asked.contains(property.wire) ? "override " : ""
        writer.comment(property.documentation)
        writer.code.line(
          "\(modifier)val \(writer.names.written(property.name)): \(KotlinTypes.text(property))")
      }
      for variant in choice.variants {
        writer.code.line()
        writer.record(variant, supertypes: [choice.name], inherited: shared)
      }
      writer.code.line()
      writer.comment("Any other type, and types that are newer than this code.")
      writer.record(choice.other, supertypes: [choice.name], inherited: shared)
      writer.code.line()
      writer.serializer(choice)
    }
  }

  private mutating func serializer(_ choice: CodeChoice) {
    let name = choice.name
    block("object Serializer : JsonContentPolymorphicSerializer<\(name)>(\(name)::class) {") {
      writer in
      writer.code.line(
        "override fun selectDeserializer(element: JsonElement): DeserializationStrategy<\(name)> =")
      let member = KotlinTypes.quoted(choice.typenameMember)
      writer.code.indented { code in
        code.block("when (element.jsonObject[\(member)]?.jsonPrimitive?.content) {") { code in
          for variant in choice.variants {
            let text = KotlinTypes.quoted(variant.typeName)
            code.line("\(text) -> \(name).\(variant.name).serializer()")
          }
          code.line("else -> \(name).Other.serializer()")
        }
      }
    }
  }

  /// Writes the interface of a fragment, or of a member of one.
  mutating func contract(_ contract: CodeContract) {
    comment(contract.documentation)
    block("interface \(contract.name) {") { writer in
      for property in contract.properties {
        writer.comment(property.documentation)
        let type = KotlinTypes.text(property, in: contract)
        writer.code.line("val \(writer.names.written(property.name)): \(type)")
      }
    }
  }
}
