public import SyncCore

/// What is wrong, or worth a look, with a model, a payload or a store.
///
/// ```swift
/// let examination = try await Sync.examine(json, inEntity: "User", stack: stack)
/// for finding in examination.findings { print(finding.path ?? "", finding.message, finding.advice) }
/// ```
public struct SyncExamination: Sendable, Hashable, Codable {
    /// What was found, by kind, those that lose data first; within a kind in the order found.
    public private(set) var findings: [SyncExamination.Finding]

    init(_ findings: [SyncExamination.Finding]) {
        let byKind = Dictionary(grouping: findings, by: \.kind)
        self.findings = SyncExamination.Finding.Kind.allCases.flatMap { byKind[$0] ?? [] }
    }

    /// The names and inverses of a model, and what is done with its values.
    public init(of model: SyncModel) {
        self.init(
            NameExamination(model.compiled).findings + InverseExamination(model.compiled).findings
                + ConversionExamination(model).findings)
    }

    /// Whether something is lost or missing. See ``SyncExamination/Finding/Kind/losesData``.
    public var losesData: Bool { findings.contains { $0.kind.losesData } }

    /// Both together.
    func adding(_ others: [SyncExamination.Finding]) -> SyncExamination { SyncExamination(findings + others) }
}
