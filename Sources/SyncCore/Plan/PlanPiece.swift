/// One piece of a payload, mapped.
package struct PlanPiece: Sendable {
    package var payload: StagedPayload
    /// Whether the payload ends with it.
    package var isLast: Bool

    package init(_ payload: StagedPayload, isLast: Bool) {
        self.payload = payload
        self.isLast = isLast
    }
}
