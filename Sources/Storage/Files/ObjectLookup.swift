/// What stands at an object's address.
package enum ObjectLookup: Hashable, Sendable {
  case noSuchBucket
  case noSuchKey
  case found(StoredObject)
}
