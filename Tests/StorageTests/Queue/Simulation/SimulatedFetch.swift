import LosslessJSON
import Model

/// A read of upstream under way: it says what was true when upstream answered, however late that
/// arrives.
struct SimulatedFetch {
  let call: Int64
  let film: String
  let fields: JSONValue
}
