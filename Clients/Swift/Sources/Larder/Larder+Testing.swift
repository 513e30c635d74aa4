extension Larder {
  /// Lets every write to the store fail as on a full disk.
  package func setStoreFull(_ isFull: Bool) {
    store.setFull(isFull)
  }
}
