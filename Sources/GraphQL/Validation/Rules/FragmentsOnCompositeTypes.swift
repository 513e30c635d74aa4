extension DocumentSurvey {
  /// A type condition names an object, interface or union type (5.5.1.3).
  func fragmentsOnCompositeTypes() -> [Fault] {
    let inline = definitions.flatMap(\.inlineFragments).compactMap(\.fragment.typeCondition)
      .map { (subject: "Fragment", condition: $0) }
    let named = fragments.map(\.definition)
      .map { (subject: "Fragment \"\($0.name)\"", condition: $0.typeCondition) }
    return (inline + named).compactMap { subject, condition in
      guard let type = schema.type(named: condition.value), !type.isComposite else { return nil }
      return Fault(
        .fragmentsOnCompositeTypes,
        "\(subject) cannot condition on non composite type \"\(condition)\".",
        at: condition.location)
    }
  }
}
