import GraphQL
import LosslessJSON
import Model

/// Reads one operation's directives and variables, and collects their faults.
struct OperationReader {
  /// An operation before planning.
  struct Reading {
    let definition: OperationDefinition
    let kind: OperationKind
    var variables: [OperationVariable] = []
    var route: RouteTemplate?
    var cache = CachePolicy()
    var access = AccessRule(role: nil, isOpen: false)
    var sync: SyncRule?
    var effects = EffectRules.none
    /// See ``RegisteredOperation/lookup``.
    var lookup: EffectTarget?
    var derivedLookup: EffectTarget?

    var name: String { definition.name?.value ?? "" }
  }

  let schema: Schema
  let keys: EntityKeys
  let inputTypes: InputTypes
  let names: EffectTargetReader.Names
  let settings: RegistrySettings
  private(set) var findings: [Finding] = []

  init(
    schema: Schema, keys: EntityKeys, inputTypes: InputTypes, names: EffectTargetReader.Names,
    settings: RegistrySettings
  ) {
    self.schema = schema
    self.keys = keys
    self.inputTypes = inputTypes
    self.names = names
    self.settings = settings
  }

  mutating func read(_ operation: OperationDefinition) -> Reading {
    let kind: OperationKind =
      switch operation.operation {
      case .query: .query
      case .mutation: .mutation
      case .subscription: .subscription
      }
    var reading = Reading(definition: operation, kind: kind)
    reading.variables = variables(of: operation)
    if let directive = operation.directives.directive(named: ClientDirectives.route) {
      var reader = RouteReader()
      reading.route = reader.read(directive, variables: reading.variables)
      findings += reader.findings
    }
    reading.cache = cache(of: operation)
    reading.access = access(of: operation, cache: reading.cache)
    readTargets(of: operation, into: &reading)
    return reading
  }

  private mutating func fault(_ message: String, at location: Location) {
    findings.append(Finding(.fault, message, at: location))
  }

  private mutating func variables(of operation: OperationDefinition) -> [OperationVariable] {
    let literals = LiteralReader(types: inputTypes)
    return operation.variableDefinitions.map { definition in
      let name = definition.name.value
      if RouteReader.reservedWords.contains(name) {
        fault(
          "$\(name) is reserved as a parameter of the service's own routes.",
          at: definition.location)
      }
      let type = inputTypes.type(of: definition.type)
      return OperationVariable(
        name: name, description: definition.description?.text,
        typeText: definition.type.description, type: type,
        defaultValue: definition.defaultValue.flatMap {
          literals.template($0, as: type).constantValue
        })
    }
  }

  // MARK: Cache and access

  private mutating func cache(of operation: OperationDefinition) -> CachePolicy {
    var policy = settings.cache
    policy.tags = []
    guard let directive = operation.directives.directive(named: ClientDirectives.cache) else {
      return policy
    }
    let arguments = DirectiveArguments(directive)
    if operation.operation == .subscription { checkSharingOnly(directive) }
    policy.maxAge = seconds("maxAge", of: arguments) ?? policy.maxAge
    policy.staleWhileRevalidate =
      seconds("staleWhileRevalidate", of: arguments) ?? policy.staleWhileRevalidate
    policy.staleIfError = seconds("staleIfError", of: arguments) ?? policy.staleIfError
    if let sharing = sharing(arguments, directive, operation) { policy.sharing = sharing }
    if let onError = arguments.enumValue("onError").flatMap(CachePolicy.ErrorPolicy.init) {
      policy.onError = onError
    }
    policy.tags = arguments.strings("tags").map(\.text)
    if let share = arguments.number("shadow") {
      if !(0...1).contains(share) {
        fault(
          "@cache(shadow: \(share)) must be from 0 to 1: the share of hits to compare with upstream.",
          at: arguments.location("shadow"))
      }
      policy.shadow = min(max(share, 0), 1)
    }
    return policy
  }

  /// A subscription has no result to keep, only callers who share it.
  private mutating func checkSharingOnly(_ directive: Directive) {
    for argument in directive.arguments
    where !["scope", "claim"].contains(argument.name.value) {
      fault(
        "@cache(\(argument.name.value):) has no meaning on a subscription; only scope and claim have.",
        at: argument.location)
    }
  }

  private mutating func sharing(
    _ arguments: DirectiveArguments, _ directive: Directive, _ operation: OperationDefinition
  ) -> CachePolicy.Sharing? {
    let scope = arguments.enumValue("scope")
    let claim = arguments.string("claim")
    guard scope == "CLAIM" else {
      if claim != nil {
        fault("@cache(claim:) requires scope: CLAIM.", at: arguments.location("claim"))
      }
      return scope.map { $0 == "PUBLIC" ? .public : .user }
    }
    guard let claim, !claim.isEmpty else {
      fault(
        "@cache(scope: CLAIM) requires claim: with the name of a claim in the callers' tokens.",
        at: arguments.location("scope"))
      return nil
    }
    if !settings.forwardedHeaders.contains("authorization") {
      fault(
        "@cache(scope: CLAIM) fetches with the caller's token: add authorization to "
          + "\(settings.section).forward.", at: arguments.location("scope"))
    }
    if let role = role(of: operation), role != .user {
      fault(
        "@cache(scope: CLAIM) requires a verified user token: @access(role: \(role.rawValue)) "
          + "contradicts it. Use USER, or omit @access.", at: directive.location)
    }
    return .claim(claim)
  }

  private func role(of operation: OperationDefinition) -> AccessRule.Role? {
    operation.directives.directive(named: ClientDirectives.access)
      .flatMap { DirectiveArguments($0).enumValue("role") }
      .flatMap(AccessRule.Role.init)
  }

  private mutating func seconds(_ name: String, of arguments: DirectiveArguments) -> Duration? {
    guard let value = arguments.int(name) else { return nil }
    guard value >= 0 else {
      fault("@cache(\(name):) must not be negative.", at: arguments.location(name))
      return nil
    }
    return .seconds(value)
  }

  private mutating func access(of operation: OperationDefinition, cache: CachePolicy) -> AccessRule
  {
    let role = role(of: operation)
    let isPublic = operation.operation != .mutation && cache.sharing == .public
    if isPublic, let role, role != .public { warnOfAnonymousCall(operation, role) }
    var isOpen = role == .public || role == nil && (isPublic || !settings.hasServiceCredentials)
    if case .claim = cache.sharing { isOpen = false }
    return AccessRule(role: role, isOpen: isOpen)
  }

  /// Warns that callers must authenticate, but upstream is called without their credential.
  private mutating func warnOfAnonymousCall(
    _ operation: OperationDefinition, _ role: AccessRule.Role
  ) {
    let forwards = settings.forwardedHeaders.contains(where: ForwardedHeaders.credentials.contains)
    guard forwards else { return }
    let start =
      "Callers need the role \(role.rawValue), but a \(operation.operation.rawValue) with "
      + "scope: PUBLIC is sent without "
      + "their credential"
    if !settings.hasServiceCredentials {
      findings.append(
        Finding(
          .warning, start + ", and the service has none of its own.", at: operation.location))
    } else if role == .user {
      findings.append(
        Finding(
          .warning,
          start + ": only tokens that this service verifies are accepted, opaque tokens are "
            + "refused. Use scope: USER if upstream must judge the token.",
          at: operation.location))
    }
  }

  // MARK: Targets

  private mutating func readTargets(
    of operation: OperationDefinition, into reading: inout Reading
  ) {
    var reader = EffectTargetReader(
      schema: schema, keys: keys, names: names, inputTypes: inputTypes, operation: operation)
    if let directive = operation.directives.directive(named: ClientDirectives.effects) {
      reading.effects = effects(DirectiveArguments(directive), &reader)
      if directive.arguments.isEmpty {
        findings.append(Finding(.warning, "@effects has no arguments.", at: directive.location))
      }
    }
    if let directive = operation.directives.directive(named: ClientDirectives.sync) {
      reading.sync = sync(DirectiveArguments(directive), &reader)
    }
    if operation.operation == .query { readLookup(of: operation, into: &reading, &reader) }
    findings += reader.findings
  }

  private mutating func readLookup(
    of operation: OperationDefinition, into reading: inout Reading,
    _ reader: inout EffectTargetReader
  ) {
    var lookups = LookupReader(
      schema: schema, keys: keys, fragments: names.fragments, operation: operation)
    let directive = operation.directives.directive(named: ClientDirectives.cache)
    let arguments = directive.map(DirectiveArguments.init)
    if let arguments, let text = arguments.string("lookup") {
      let location = arguments.location("lookup")
      reading.lookup = reader.entity(text, at: location)
      if let target = reading.lookup {
        lookups.check(target, policy: reading.cache, at: location)
      }
    } else {
      reading.derivedLookup = lookups.proposal
    }
    findings += lookups.findings
  }

  private func effects(
    _ arguments: DirectiveArguments, _ reader: inout EffectTargetReader
  ) -> EffectRules {
    func targets(_ name: String) -> [EffectTarget] {
      arguments.strings(name).flatMap { reader.targets($0.text, at: $0.location) }
    }
    return EffectRules(
      updates: targets("updates"),
      deletes: arguments.strings("deletes").compactMap {
        reader.namedEntity($0.text, at: $0.location)
      },
      invalidates: targets("invalidates"),
      appends: targets("appends"))
  }

  private mutating func sync(
    _ arguments: DirectiveArguments, _ reader: inout EffectTargetReader
  ) -> SyncRule {
    let verify = arguments.string("verify")
    if let verify, !names.operations.contains(verify) {
      let hint = NearestNames.didYouMean(verify, among: names.operations)
      fault(
        "@sync(verify:) names the unknown operation \"\(verify)\".\(hint)",
        at: arguments.location("verify"))
    }
    return SyncRule(
      object: arguments.string("object").flatMap {
        reader.entity($0, at: arguments.location("object"))
      },
      references: arguments.strings("refs").compactMap {
        reader.entity($0.text, at: $0.location)
      },
      isRepeatable: arguments.bool("repeatable") ?? false,
      isIndependent: arguments.bool("independent") ?? false,
      verify: verify,
      optimistic: arguments.strings("optimistic").compactMap {
        reader.optimistic($0.text, at: $0.location)
      })
  }
}
