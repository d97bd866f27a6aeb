/// A payload that is mapped.
package struct StagedPayload: Sendable {
    /// What it asserts.
    package let plan: ChangePlan
    /// What maps it again as a hook rewrites its records; nil without a hook.
    package let rewriting: RecordRewriting?

    package init(_ plan: ChangePlan, rewriting: RecordRewriting? = nil) {
        self.plan = plan
        self.rewriting = rewriting
    }
}
