/// The rule that a fault breaks. The raw values of the validation rules are the names of the reference
/// implementation, without its suffix.
package enum Rule: String, Hashable, Sendable, CaseIterable {
  /// The text is not a GraphQL document, or exceeds a parser limit.
  case syntax = "Syntax"

  // Executable documents: section 5 of the specification.
  case executableDefinitions = "ExecutableDefinitions"
  /// An operation of a kind without a root type in the schema. (Newer than the October 2021 text.)
  case knownOperationTypes = "KnownOperationTypes"
  case uniqueOperationNames = "UniqueOperationNames"
  case loneAnonymousOperation = "LoneAnonymousOperation"
  case singleFieldSubscriptions = "SingleFieldSubscriptions"
  case knownTypeNames = "KnownTypeNames"
  case fragmentsOnCompositeTypes = "FragmentsOnCompositeTypes"
  case variablesAreInputTypes = "VariablesAreInputTypes"
  case scalarLeafs = "ScalarLeafs"
  case fieldsOnCorrectType = "FieldsOnCorrectType"
  case uniqueFragmentNames = "UniqueFragmentNames"
  case knownFragmentNames = "KnownFragmentNames"
  case noUnusedFragments = "NoUnusedFragments"
  case possibleFragmentSpreads = "PossibleFragmentSpreads"
  case noFragmentCycles = "NoFragmentCycles"
  case uniqueVariableNames = "UniqueVariableNames"
  case noUndefinedVariables = "NoUndefinedVariables"
  case noUnusedVariables = "NoUnusedVariables"
  case knownDirectives = "KnownDirectives"
  case uniqueDirectivesPerLocation = "UniqueDirectivesPerLocation"
  case knownArgumentNames = "KnownArgumentNames"
  case uniqueArgumentNames = "UniqueArgumentNames"
  case valuesOfCorrectType = "ValuesOfCorrectType"
  case providedRequiredArguments = "ProvidedRequiredArguments"
  case variablesInAllowedPosition = "VariablesInAllowedPosition"
  case overlappingFieldsCanBeMerged = "OverlappingFieldsCanBeMerged"
  case uniqueInputFieldNames = "UniqueInputFieldNames"

  // Type-system documents.
  case loneSchemaDefinition = "LoneSchemaDefinition"
  case uniqueOperationTypes = "UniqueOperationTypes"
  case uniqueTypeNames = "UniqueTypeNames"
  case uniqueEnumValueNames = "UniqueEnumValueNames"
  case uniqueFieldDefinitionNames = "UniqueFieldDefinitionNames"
  case uniqueArgumentDefinitionNames = "UniqueArgumentDefinitionNames"
  case uniqueDirectiveNames = "UniqueDirectiveNames"
  case possibleTypeExtensions = "PossibleTypeExtensions"

  /// The type system as a whole is invalid: section 3 of the specification.
  case schema = "Schema"
  /// An introspection response does not have the specified shape.
  case introspection = "Introspection"
}

extension Rule {
  /// The rules for executable documents.
  package static let executable: Set<Rule> = [
    .executableDefinitions, .knownOperationTypes, .uniqueOperationNames, .loneAnonymousOperation,
    .singleFieldSubscriptions, .knownTypeNames, .fragmentsOnCompositeTypes,
    .variablesAreInputTypes, .scalarLeafs, .fieldsOnCorrectType, .uniqueFragmentNames,
    .knownFragmentNames, .noUnusedFragments, .possibleFragmentSpreads, .noFragmentCycles,
    .uniqueVariableNames, .noUndefinedVariables, .noUnusedVariables, .knownDirectives,
    .uniqueDirectivesPerLocation, .knownArgumentNames, .uniqueArgumentNames,
    .valuesOfCorrectType, .providedRequiredArguments, .variablesInAllowedPosition,
    .overlappingFieldsCanBeMerged, .uniqueInputFieldNames,
  ]
}
