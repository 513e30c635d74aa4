package import Model
package import Upstream

/// Generates the types of a client's entities and operations in one language.
///
/// The files depend on nothing but the interface and the options, in an order of their own.
package struct CodeGenerator: Sendable {
  private let interface: ClientInterface
  private let scalars: [String: ScalarForm]
  private let package: String

  /// - Parameters:
  ///   - scalars: the forms of scalars by name; others have their ``Model/ScalarForm/standard(of:)``.
  ///   - package: the package of Kotlin files.
  package init(
    _ interface: ClientInterface, scalars: [String: ScalarForm] = [:], package: String = "larder"
  ) {
    self.interface = interface
    self.scalars = scalars
    self.package = package
  }

  /// Returns the files, in alphabetical order.
  ///
  /// - Throws: all names that collide.
  package func files(_ language: TargetLanguage) throws(GenerationFaults) -> [GeneratedFile] {
    let files =
      switch language {
      case .swift: SwiftFiles(model: try model(.swift, filesByName: true)).files
      case .kotlin:
        KotlinFiles(model: try model(.kotlin, filesByName: true), package: package).files
      case .typescript:
        [TypeScriptFile(model: try model(.typescript, filesByName: false)).file]
      }
    return files.sorted { $0.name < $1.name }
  }

  private func model(
    _ names: LanguageNames, filesByName: Bool
  ) throws(GenerationFaults) -> CodeModel {
    var builder = CodeModelBuilder(
      interface, names: names, scalars: scalars, filesByName: filesByName)
    return try builder.build()
  }

  /// The scalars in use that neither settings nor their name give a form, in alphabetical order: they
  /// are read as any JSON value.
  package var unmappedScalars: [String] {
    var names = Set<String>()
    for operation in interface.operations {
      Self.collect(operation.variables, into: &names)
      Self.collect(operation.response.fields, into: &names)
    }
    for fragment in interface.fragments { Self.collect(fragment.object.fields, into: &names) }
    for entity in interface.entities { Self.collect(entity.fields, into: &names) }
    for input in interface.inputs { Self.collect(input.fields, into: &names) }
    return names.filter { name in
      scalars[name] == nil && ScalarForm.standard(of: name) == .json
        && !name.lowercased().hasPrefix("json")
    }.sorted()
  }

  private static func collect(_ fields: [ClientField], into names: inout Set<String>) {
    for field in fields { collect(field.type, into: &names) }
  }

  private static func collect(_ type: ClientType, into names: inout Set<String>) {
    switch type {
    case .nonNull(let inner), .list(let inner): collect(inner, into: &names)
    case .scalar(let name): names.insert(name)
    case .object(let object): collect(object.fields, into: &names)
    case .choice(let choice):
      for object in choice.variants + [choice.general] { collect(object.fields, into: &names) }
    case .plain, .enumeration, .input, .reference: return
    }
  }
}
