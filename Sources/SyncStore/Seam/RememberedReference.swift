/// A late reference with the place that is kept for its row.
package struct RememberedReference: Sendable {
    package var reference: LateReference
    /// Its position in the list of ids that has it; -1 for one of a to-one relationship, as it is stored.
    package var position: Int64

    package init(_ reference: LateReference, at position: Int64) {
        self.reference = reference
        self.position = position
    }
}
