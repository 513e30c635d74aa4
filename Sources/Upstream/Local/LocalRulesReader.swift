import GraphQL
import Model

/// Reads the validation rules of a local type's field.
struct LocalRulesReader {
  let definition: FieldDefinition
  let kind: LocalField.Kind
  private(set) var findings: [Finding] = []

  init(definition: FieldDefinition, kind: LocalField.Kind) {
    self.definition = definition
    self.kind = kind
  }

  mutating func read() -> LocalRules {
    var rules = LocalRules()
    if let directive = directive(LocalDirectives.length) {
      let arguments = DirectiveArguments(directive)
      (rules.lengthMin, rules.lengthMax) = (arguments.int("min"), arguments.int("max"))
      if scalar?.isText != true, definition.type.item == nil {
        fault("@length can only be applied to strings and lists.", directive)
      }
      if (rules.lengthMin ?? 0) < 0 || (rules.lengthMax ?? 0) < (rules.lengthMin ?? 0),
        rules.lengthMax != nil || (rules.lengthMin ?? 0) < 0
      {
        fault(
          "@length: min and max allow no length; both must be at least 0 and min at most max.",
          directive)
      }
    }
    if let directive = directive(LocalDirectives.range) {
      (rules.rangeMin, rules.rangeMax) = (number("min", directive), number("max", directive))
      if scalar?.isNumber != true { fault("@range can only be applied to numbers.", directive) }
      if let least = rules.rangeMin, let most = rules.rangeMax, least > most {
        fault("@range: min must be at most max.", directive)
      }
    }
    if let directive = directive(LocalDirectives.pattern),
      let pattern = DirectiveArguments(directive).string("regex")
    {
      if scalar?.isText != true { fault("@pattern can only be applied to strings.", directive) }
      do throws(PatternFault) {
        rules.pattern = try TextPattern(pattern)
      } catch {
        fault("The pattern is not supported: \(error).", directive)
      }
    }
    return rules
  }

  private var scalar: LocalScalar? {
    if case .scalar(let scalar) = kind { scalar } else { nil }
  }

  private func directive(_ name: String) -> Directive? {
    definition.directives.directive(named: name)
  }

  private func number(_ name: String, _ directive: Directive) -> Double? {
    switch directive.argument(named: name)?.kind {
    case .int(let digits), .float(let digits): Double(digits)
    default: nil
    }
  }

  private mutating func fault(_ message: String, _ directive: Directive) {
    findings.append(Finding(.fault, message, at: directive.location))
  }
}
