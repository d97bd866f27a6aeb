/// What is wrong, or worth a look, with a model, a payload or a store.
///
/// ```swift
/// let examination = try await Sync.examine(json, inEntity: "User", stack: stack)
/// for finding in examination.findings { print(finding.path ?? "", finding.message, finding.advice) }
/// ```
public struct Examination: Sendable, Hashable, Codable {
    /// What was found, by kind, those that lose data first; within a kind in the order found.
    public private(set) var findings: [Finding]

    package init(_ findings: [Finding]) {
        let byKind = Dictionary(grouping: findings, by: \.kind)
        self.findings = Finding.Kind.allCases.flatMap { byKind[$0] ?? [] }
    }

    /// The names and inverses of a model, and what is done with its values.
    public init(of model: Model) {
        self.init(
            NameExamination(model.compiled).findings + InverseExamination(model.compiled).findings
                + ConversionExamination(model).findings)
    }

    /// Whether something is lost or missing. See ``Finding/Kind/losesData``.
    public var losesData: Bool { findings.contains { $0.kind.losesData } }

    /// Both together.
    package func adding(_ others: [Finding]) -> Examination { Examination(findings + others) }
}
