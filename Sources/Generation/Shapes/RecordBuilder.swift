import LosslessJSON
import Model
import Upstream

/// Builds the records of selections, with the names of one language.
struct RecordBuilder {
  let names: LanguageNames
  let scalars: [String: ScalarForm]
  /// Types at the top of files that members name: types inside others must not hide them.
  let visibleTypes: Set<String>
  private(set) var faults: [String] = []

  init(names: LanguageNames, scalars: [String: ScalarForm], visibleTypes: Set<String>) {
    self.names = names
    self.scalars = scalars
    self.visibleTypes = visibleTypes
  }

  /// - Parameter place: where the record is, for faults.
  mutating func record(_ object: ClientObject, named name: String, in place: String) -> CodeRecord {
    var record = CodeRecord(
      name: name, typeName: object.typeName,
      properties: properties(object.fields, in: place))
    record.fragments = object.fragments
    var known: [String: String] = [:]
    for field in object.fields {
      guard let shape = shape(of: field.type, member: field.name, in: "\(place).\(field.name)")
      else { continue }
      let inner = nestedName(field.name)
      if let other = known[inner] {
        faults.append(
          "\(place): the members \(other) and \(field.name) both have a type \(inner) inside; give one "
            + "of them an alias.")
      }
      known[inner] = field.name
      record.nested.append(CodeNested(property: field.name, shape: shape))
    }
    return record
  }

  mutating func properties(_ fields: [ClientField], in place: String) -> [CodeProperty] {
    var known: [String: String] = [:]
    return fields.map { field in
      let property = property(field)
      if let other = known[property.name] {
        faults.append(
          "\(place): the members \(other) and \(field.name) both would be \(property.name); give one "
            + "of them another name or an alias.")
      }
      known[property.name] = field.name
      return property
    }
  }

  private func property(_ field: ClientField) -> CodeProperty {
    var type = codeType(field.type, member: field.name)
    var isNullable = false
    if case .optional(let inner) = type { (type, isNullable) = (inner, true) }
    return CodeProperty(
      wire: field.name, name: names.member(field.name), type: type, isNullable: isNullable,
      isConditional: field.isConditional, isTypename: field.isTypename,
      documentation: Documentation.text(field.description, deprecation: field.deprecation),
      fallback: field.fallback)
  }

  // MARK: Types

  private func codeType(_ type: ClientType, member: String) -> CodeType {
    if case .nonNull(let inner) = type { return required(inner, member: member) }
    return .optional(required(type, member: member))
  }

  private func required(_ type: ClientType, member: String) -> CodeType {
    switch type {
    case .nonNull(let inner): required(inner, member: member)
    case .list(let item): .list(codeType(item, member: member))
    case .scalar(let name): .scalar(scalars[name] ?? ScalarForm.standard(of: name))
    case .plain(let form): .scalar(form)
    case .enumeration(let name), .input(let name): .named(names.type(name))
    case .object, .choice: .nested(nestedName(member))
    case .reference(let isAbstract): isAbstract ? .reference : .scalar(.string)
    }
  }

  private func nestedName(_ member: String) -> String {
    innerName(IdentifierCase.upperFirst(member))
  }

  private func innerName(_ name: String, besides other: String? = nil) -> String {
    let name = names.type(name)
    return visibleTypes.contains(name) || name == other ? name + "_" : name
  }

  private mutating func shape(
    of type: ClientType, member: String, in place: String
  ) -> CodeShape? {
    switch type {
    case .nonNull(let inner), .list(let inner):
      return shape(of: inner, member: member, in: place)
    case .object(let object):
      return .record(record(object, named: nestedName(member), in: place))
    case .choice(let choice):
      return .choice(self.choice(choice, named: nestedName(member), in: place))
    case .scalar, .plain, .enumeration, .input, .reference: return nil
    }
  }

  private mutating func choice(
    _ choice: ClientChoice, named name: String, in place: String
  ) -> CodeChoice {
    let other = record(choice.general, named: "Other", in: place)
    var known: [String: String] = [:]
    let variants = choice.variants.map { variant in
      let inner = innerName(IdentifierCase.upperFirst(variant.typeName), besides: name)
      if let other = known[inner] {
        faults.append(
          "\(place): the types \(other) and \(variant.typeName) both would be \(inner) in generated "
            + "code.")
      }
      known[inner] = variant.typeName
      return record(variant.named, named: inner, in: "\(place) on \(variant.typeName)")
    }
    let shared = other.properties.filter { property in
      other.nested(property.wire) == nil
        && variants.allSatisfy { variant in
          variant.property(property.wire).map { $0.type == property.type } ?? false
        }
    }
    return CodeChoice(
      name: name, typenameMember: choice.typenameMember, shared: shared, variants: variants,
      other: other)
  }
}

extension ClientObject {
  /// The object with its type's name as the value of a new one.
  fileprivate var named: ClientObject {
    ClientObject(
      typeName: typeName,
      fields: fields.map { field in
        guard field.isTypename else { return field }
        return ClientField(
          name: field.name, type: field.type, isConditional: field.isConditional, isTypename: true,
          fallback: .string(typeName))
      }, fragments: fragments)
  }
}
