import Model
import Upstream

/// The Kotlin files of a model: one for each type at the top, and one for what all operations are.
struct KotlinFiles {
  let model: CodeModel
  let package: String

  var files: [GeneratedFile] {
    model.enums.map { type in file(type.name) { $0.enumeration(type) } }
      + model.inputs.map { type in file(type.name) { $0.input(type) } }
      + model.contracts.flatMap(\.all).map { part in file(part.name) { $0.contract(part) } }
      + model.entities.map { entity in file(entity.name) { $0.entity(entity) } }
      + model.operations.map { operation in file(operation.name) { $0.operation(operation) } }
      + [file("LarderOperation") { $0.common() }]
  }

  private func file(
    _ name: String, _ body: (inout KotlinRecordWriter) -> Void
  ) -> GeneratedFile {
    var writer = KotlinRecordWriter(CodeWriter(indent: "    "))
    body(&writer)
    let opening = """
      \(GeneratedFile.header(of: .kotlin))

      package \(package)

      import kotlinx.serialization.*
      import kotlinx.serialization.json.*

      """
    return GeneratedFile(name: "\(name).kt", text: opening + "\n" + writer.code.text)
  }
}

extension KotlinRecordWriter {
  fileprivate mutating func enumeration(_ type: CodeEnum) {
    comment(
      [type.documentation, "Values that are newer than this code are kept."]
        .compactMap { $0 }.joined(separator: "\n\n"))
    code.line("@Serializable")
    code.line("@JvmInline")
    block("value class \(type.name)(val value: String) {") { writer in
      writer.block("companion object {") { writer in
        for value in type.values {
          writer.comment(Documentation.text(value.description, deprecation: value.deprecation))
          let name = writer.names.written(writer.names.value(value.name))
          let text = KotlinTypes.quoted(value.name)
          writer.code.line("val \(name): \(type.name) = \(type.name)(\(text))")
        }
      }
    }
  }

  fileprivate mutating func input(_ type: CodeInput) {
    comment(type.documentation)
    code.line("@Serializable")
    parameters(type.name, type.properties, closing: ")")
  }

  fileprivate mutating func entity(_ entity: CodeEntity) {
    comment(entity.documentation)
    let keys = entity.key.map { KotlinTypes.quoted($0.wire) }.joined(separator: ", ")
    record(entity.record) { writer in
      writer.block("companion object {") { writer in
        writer.code.line("const val TYPE_NAME: String = \(KotlinTypes.quoted(entity.typeName))")
        writer.code.line("val KEY_FIELDS: List<String> = listOf(\(keys))")
        writer.code.line("const val IS_LOCAL: Boolean = \(entity.isLocal)")
      }
    }
  }

  fileprivate mutating func operation(_ operation: CodeOperation) {
    let name = operation.name
    let own = operation.operation
    comment(operation.documentation)
    block("object \(name) : LarderOperation<\(name).Variables, \(name).Response> {") { writer in
      writer.code.line("override val name: String = \(KotlinTypes.quoted(own.name))")
      writer.code.line("override val kind: String = \(KotlinTypes.quoted(own.kind.rawValue))")
      writer.code.line(
        "override val variables: KSerializer<Variables> get() = Variables.serializer()")
      writer.code.line("override val response: KSerializer<Response> get() = Response.serializer()")
      writer.code.line()
      writer.code.line("@Serializable")
      writer.parameters("Variables", operation.variables, closing: ")")
      writer.code.line()
      writer.record(operation.response)
    }
  }

  fileprivate mutating func common() {
    comment("An operation: its name and kind, and the serializers of its variables and response.")
    block("interface LarderOperation<Variables, Response> {") { writer in
      writer.code.line("val name: String")
      writer.code.line()
      writer.comment("query, mutation or subscription.")
      writer.code.line("val kind: String")
      writer.code.line("val variables: KSerializer<Variables>")
      writer.code.line("val response: KSerializer<Response>")
    }
    code.line()
    comment("The type and the key of an entity.")
    code.line("@Serializable")
    code.line("data class Reference(val type: String, val id: String)")
  }
}
