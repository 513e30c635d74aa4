import Gateway
import Model
import Storage
import Upstream

/// Writing to entities, wired over a store.
enum EntityWriting {
  static func writes(
    _ workspace: Workspace, store: Store, calls: CallSequence, epoch: MutationEpoch,
    deadline: QueryDeadline
  ) -> EntityWrites {
    let clock = SystemClock.wall
    let random = RandomBytes { UInt8.random(in: 0...UInt8.max) }
    let catalogue = workspace.registry.catalogue
    let entities = EntityRenderer(
      catalogue: catalogue, views: workspace.registry.views.values)
    return EntityWrites(
      own: OwnDataWrites(
        schema: workspace.local, store: store, entities: entities,
        identifiers: IdentifierMaker(clock: clock, random: random), clock: clock,
        deadline: deadline, quota: DataQuota(workspace.settings.devices)),
      corrections: CorrectionService(
        catalogue: catalogue, store: store, entities: entities, calls: calls, epoch: epoch,
        clock: clock, deadline: deadline))
  }
}

extension DataQuota {
  init(_ settings: DevicesSettings) {
    self.init(
      ownerBytesMax: settings.ownerBytesMax, unboundBytesMax: settings.unboundBytesMax)
  }
}
