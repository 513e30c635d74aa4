/// The validation of executable documents (specification section 5).
package enum Validator {
  /// Returns every fault of the document by the given rules, in the order of their locations.
  ///
  /// Join the files of one application with `Document(joining:)` first, since fragments can be used in
  /// other files.
  package static func validate(
    _ document: Document, against schema: Schema, rules: Set<Rule> = Rule.executable
  ) -> [Fault] {
    let survey = DocumentSurvey(document, schema: schema)
    var faults: [Fault] = []
    for rule in Rule.allCases where rules.contains(rule) {
      faults += check(rule, survey)
    }
    return faults.sortedByPlace(in: document)
  }

  private static func check(_ rule: Rule, _ survey: DocumentSurvey) -> [Fault] {
    switch rule {
    case .executableDefinitions: survey.executableDefinitions()
    case .knownOperationTypes: survey.knownOperationTypes()
    case .uniqueOperationNames: survey.uniqueOperationNames()
    case .loneAnonymousOperation: survey.loneAnonymousOperation()
    case .singleFieldSubscriptions: survey.singleFieldSubscriptions()
    case .knownTypeNames: survey.knownTypeNames()
    case .fragmentsOnCompositeTypes: survey.fragmentsOnCompositeTypes()
    case .variablesAreInputTypes: survey.variablesAreInputTypes()
    case .scalarLeafs: survey.scalarLeafs()
    case .fieldsOnCorrectType: survey.fieldsOnCorrectType()
    case .uniqueFragmentNames: survey.uniqueFragmentNames()
    case .knownFragmentNames: survey.knownFragmentNames()
    case .noUnusedFragments: survey.noUnusedFragments()
    case .possibleFragmentSpreads: survey.possibleFragmentSpreads()
    case .noFragmentCycles: survey.noFragmentCycles()
    case .uniqueVariableNames: survey.uniqueVariableNames()
    case .noUndefinedVariables: survey.noUndefinedVariables()
    case .noUnusedVariables: survey.noUnusedVariables()
    case .knownDirectives: survey.knownDirectives()
    case .uniqueDirectivesPerLocation: survey.uniqueDirectivesPerLocation()
    case .knownArgumentNames: survey.knownArgumentNames()
    case .uniqueArgumentNames: survey.uniqueArgumentNames()
    case .valuesOfCorrectType: survey.valuesOfCorrectType()
    case .providedRequiredArguments: survey.providedRequiredArguments()
    case .variablesInAllowedPosition: survey.variablesInAllowedPosition()
    case .overlappingFieldsCanBeMerged: survey.overlappingFieldsCanBeMerged()
    case .uniqueInputFieldNames: survey.uniqueInputFieldNames()
    default: []
    }
  }
}

extension [Fault] {
  /// Returns the faults by file in the order of the document, then by offset; those without a location
  /// come last.
  func sortedByPlace(in document: Document) -> [Fault] {
    var order: [ObjectIdentifier: Int] = [:]
    for definition in document.definitions {
      if let source = definition.location.source, order[ObjectIdentifier(source)] == nil {
        order[ObjectIdentifier(source)] = order.count
      }
    }
    let keyed = enumerated().map { index, fault in
      let location = fault.locations.first
      let file = location?.source.flatMap { order[ObjectIdentifier($0)] } ?? Int.max
      return (key: (file, location?.start ?? 0, index), fault: fault)
    }
    return keyed.sorted { $0.key < $1.key }.map(\.fault)
  }
}
