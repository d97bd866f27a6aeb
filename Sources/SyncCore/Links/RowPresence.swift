/// How a row that the payload speaks of stands to the store.
package enum RowPresence: UInt8, Sendable {
    /// Not stored and not (or not yet) to be inserted.
    case missing
    case stored
    /// To be inserted.
    case new
}
