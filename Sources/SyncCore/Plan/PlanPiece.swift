/// What one piece of a payload asserts.
package struct PlanPiece: Sendable {
    package var plan: ChangePlan
    /// Whether the payload ends with it.
    package var isLast: Bool

    package init(plan: ChangePlan, isLast: Bool) {
        self.plan = plan
        self.isLast = isLast
    }
}
