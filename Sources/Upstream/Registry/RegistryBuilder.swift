import GraphQL
import Model

/// Builds the plans of valid operations, and the catalogue of the types they reach.
struct RegistryBuilder {
  fileprivate let schema: Schema
  fileprivate let keys: EntityKeys
  private let inputTypes: InputTypes
  fileprivate let settings: RegistrySettings
  private let fragments: [FragmentDefinition]
  fileprivate let written: [String: FragmentDefinition]
  /// The files of a manifest by their paths.
  private let manifest: [String: SourceFile]
  private let rewriter: DocumentRewriter
  private let ground: SelectionPlanner.Ground
  private(set) var findings: [Finding] = []

  init(
    schema: Schema, keys: EntityKeys, inputTypes: InputTypes, settings: RegistrySettings,
    fragments: [FragmentDefinition], manifest: [SourceFile] = []
  ) {
    self.schema = schema
    self.keys = keys
    self.inputTypes = inputTypes
    self.settings = settings
    self.fragments = fragments
    self.manifest = Dictionary(
      manifest.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    written = Dictionary(
      fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    rewriter = DocumentRewriter(schema: schema, keys: keys, fragments: written)
    ground = SelectionPlanner.Ground(
      schema: schema, fragments: written.mapValues(rewriter.rewrite), keys: keys,
      names: settings.storedTypes, literals: LiteralReader(types: inputTypes))
  }

  mutating func build(_ readings: [OperationReader.Reading]) -> OperationRegistry {
    var operations: [RegisteredOperation] = []
    var surveys: [PlanSurvey] = []
    var interface = settings.describesInterface ? InterfaceParts(self) : nil
    for reading in readings {
      let (operation, survey, plans) = build(reading)
      operations.append(operation)
      surveys.append(survey)
      interface?.add(reading.definition, operation, plans)
    }
    warnOfEmbedded(readings, surveys)
    return OperationRegistry(
      operations: operations,
      catalogue: EntityCatalogue(
        surveys: surveys, keys: keys, schema: schema, settings: settings),
      views: views(), inputObjects: inputTypes.objects,
      outline: settings.keepsOutline ? outline(operations, surveys) : nil,
      interface: interface?.interface(fragments: fragments))
  }

  private func outline(
    _ operations: [RegisteredOperation], _ surveys: [PlanSurvey]
  ) -> SchemaOutline {
    let forwardsCredentials = settings.forwardedHeaders.contains(
      where: ForwardedHeaders.makesPrivate)
    let selected = zip(operations, surveys).map { operation, survey in
      SchemaOutline.Selected(
        survey: survey,
        isPublic: settings.sharesPublicData && operation.claim == nil
          && operation.access.role?.demanded == nil
          && !(operation.sendsCallersCredential && forwardsCredentials))
    }
    return SchemaOutline(
      schema: schema, keys: keys, names: settings.storedTypes, selected: selected,
      operations: operations)
  }

  private func build(
    _ reading: OperationReader.Reading
  ) -> (RegisteredOperation, PlanSurvey, SelectionPlans) {
    let rewritten = rewriter.rewrite(reading.definition)
    let used = FragmentUse.names(in: rewritten.selectionSet, fragments: ground.fragments)
    let plans = SelectionPlans(operation: rewritten, fragments: used, ground: ground)
    let survey = PlanSurvey(plans.everything(), names: settings.storedTypes)
    let location = reading.definition.location
    let operation = RegisteredOperation(
      name: reading.name,
      description: reading.definition.description?.text
        ?? LeadingComment.text(above: location),
      kind: reading.kind,
      upstream: settings.upstream,
      route: reading.route,
      document: SentDocument.text(
        of: rewritten, fragments: used.compactMap { ground.fragments[$0] }),
      identity: DocumentIdentity(
        normalText: NormalDocument.text(of: reading.definition, fragments: written),
        listed: location.source.flatMap { manifest[$0.name] }),
      variables: reading.variables,
      cache: reading.cache,
      cacheNote: CacheNote.text(
        kind: reading.kind, policy: reading.cache,
        forwardedHeaders: settings.forwardedHeaders, lookup: reading.lookup),
      access: reading.access,
      sync: reading.sync,
      effects: reading.effects,
      lookup: reading.lookup,
      derivedLookup: reading.derivedLookup,
      path: location.source?.name ?? "",
      position: location.position ?? SourcePosition(line: 1, column: 1),
      entityTypes: survey.entityTypes.sorted(),
      listElementTypes: survey.listElementTypes.sorted(),
      lookupTypes: survey.lookupTypes.sorted(),
      fragments: used,
      fragmentDescriptions: used.compactMap { name in
        ground.fragments[name]?.description.map { (name, $0.text) }
      },
      inputObjects: inputTypes.objects,
      keys: keys,
      plans: plans)
    return (operation, survey, plans)
  }

  /// The fragments on types that can be entities. A fragment whose arguments depend on variables
  /// has no fixed meaning outside an operation and is omitted.
  private func views() -> [String: EntityView] {
    var views: [String: EntityView] = [:]
    for fragment in fragments {
      let name = fragment.name.value
      let condition = fragment.typeCondition.value
      guard let type = schema.type(named: condition),
        schema.possibleTypes(of: type).contains(where: { keys[$0.name] != nil }),
        let rewritten = ground.fragments[name]
      else { continue }
      var planner = SelectionPlanner(ground: ground) { _ in true }
      let plan = planner.plan([rewritten.selectionSet], at: type)
      guard let selection = plan.shared else { continue }
      views[name] = EntityView(
        name: name, typeCondition: settings.storedTypes[condition], selection: selection)
    }
    return views
  }

  /// Warns of operations without a common field of an embedded object: they overwrite each other's
  /// part of it, and a replaced object cannot be detected.
  private mutating func warnOfEmbedded(
    _ readings: [OperationReader.Reading], _ surveys: [PlanSurvey]
  ) {
    var places: [PlanSurvey.EmbeddedPlace: [(operation: String, leaves: Set<String>)]] = [:]
    // The first pair of each place and the number of pairs: one fix is enough for all.
    var found: [PlanSurvey.EmbeddedPlace: (text: String, location: Location, pairs: Int)] = [:]
    var order: [PlanSurvey.EmbeddedPlace] = []
    for (reading, survey) in zip(readings, surveys) {
      for (place, leaves) in survey.embeddedLeaves {
        for other in places[place] ?? [] where other.leaves.isDisjoint(with: leaves) {
          if found[place] == nil {
            order.append(place)
            found[place] = (
              "\(reading.name) and \(other.operation) select no common field of "
                + "\(place.owner).\(place.field), which has no key: when it is replaced by another "
                + "object, stored fields of both are mixed until both operations are fetched.",
              reading.definition.location, 0
            )
          }
          found[place]?.pairs += 1
        }
        places[place, default: []].append((reading.name, leaves))
      }
    }
    for place in order {
      guard let (text, location, pairs) = found[place] else { continue }
      let others = pairs == 1 ? "" : " So do \(pairs - 1) other pairs of operations."
      findings.append(Finding(.warning, text + others, at: location))
    }
  }
}

/// What a builder collects for the description of the client interface.
private struct InterfaceParts {
  /// An operation with more combinations of conditions has no lookup for clients.
  private static let combinationsMax = 16

  private var reader: ClientInterfaceReader
  private var entities: EntityFieldSurvey
  private let keys: EntityKeys
  private var operations: [ClientOperation] = []

  init(_ builder: RegistryBuilder) {
    reader = ClientInterfaceReader(schema: builder.schema, fragments: builder.written)
    entities = EntityFieldSurvey(schema: builder.schema)
    keys = builder.keys
  }

  mutating func add(
    _ definition: OperationDefinition, _ operation: RegisteredOperation, _ plans: SelectionPlans
  ) {
    var described = reader.operation(definition, operation)
    if let combinations = plans.combinations(countMax: Self.combinationsMax) {
      var lookups = ClientLookupReader(operation, combinations, keys: keys)
      described.lookup = lookups.lookup()
    }
    operations.append(described)
    entities.add(plans.everything())
  }

  func interface(fragments: [FragmentDefinition]) -> ClientInterface {
    var reader = reader
    var interface = ClientInterface()
    interface.operations = operations.sorted { $0.name < $1.name }
    interface.fragments = fragments.compactMap { reader.fragment($0) }
      .sorted { $0.name < $1.name }
    var types = reader.types
    interface.entities = entities.entities(
      keyFields: keys.storedRules.mapValues { $0.parts.map(\.field) }, types: &types)
    interface.enums = types.enums
    interface.inputs = types.inputs
    interface.scalars = types.scalars
    interface.faults = reader.faults
    return interface
  }
}
