import Gateway
import Model
import Storage
import Upstream

/// Writing to local types, wired over a store.
enum LocalWriting {
  /// Nil where there are no local types.
  static func service(_ workspace: Workspace, store: Store) -> LocalWriteService? {
    guard !workspace.local.isEmpty else { return nil }
    let clock = SystemClock.wall
    let random = RandomBytes { UInt8.random(in: 0...UInt8.max) }
    return LocalWriteService(
      schema: workspace.local, store: store,
      entities: EntityRenderer(catalogue: workspace.registry.catalogue),
      identifiers: IdentifierMaker(clock: clock, random: random), clock: clock)
  }
}
