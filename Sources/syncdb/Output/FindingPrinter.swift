import Foundation
import Sync
import SyncTools

/// What an examination found, for people and for programs.
struct FindingPrinter {
    let examination: SyncExamination
    /// How many findings of one kind are listed; nil for all.
    let limit: Int?
    var style = Style.plain

    /// The findings by kind, what loses data first, and a line that sums them up.
    var text: VisibleText {
        let groups = SyncExamination.Finding.Kind.allCases.map { kind in examination.findings.filter { $0.kind == kind }
        }
        return (groups.filter { !$0.isEmpty }.map(group) + [summary]).joined(separator: "\n\n")
    }

    /// `{"findings": […], "losesData": true}`, keys sorted.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let form = Form(findings: examination.findings, losesData: examination.losesData)
        return String(decoding: try encoder.encode(form), as: UTF8.self)
    }

    private struct Form: Encodable {
        let findings: [SyncExamination.Finding]
        let losesData: Bool
    }

    private func group(_ findings: [SyncExamination.Finding]) -> VisibleText {
        let kind = findings[0].kind
        let title: VisibleText = "\(Self.title(of: kind))"
        let entries = ShortList(findings, upTo: limit).lines(entry, hint: "--all lists them")
        return ([kind.losesData ? style.red(title) : style.yellow(title)] + entries).joined(separator: "\n")
    }

    private func entry(_ finding: SyncExamination.Finding) -> VisibleText {
        let place: VisibleText = finding.path.map { "\($0): " } ?? ""
        let times: VisibleText = finding.count > 1 ? " (\(finding.count) times)" : ""
        return "  \(place)\(finding.message)\(times)\n      \(finding.advice)"
    }

    private var summary: VisibleText {
        let lost = examination.findings.filter { $0.kind.losesData }.count
        let notes = examination.findings.count - lost
        let count: VisibleText = "\(lost) \(lost == 1 ? "finding loses" : "findings lose") data, \(notes) worth a look"
        return lost == 0 ? style.green(notes == 0 ? "nothing found" : count) : style.red(count)
    }

    private static func title(of kind: SyncExamination.Finding.Kind) -> String {
        switch kind {
        case .unmappedKey: "Keys that nothing takes"
        case .valueDoesNotFit: "Values that do not fit"
        case .recordWithoutKey: "Records without a key"
        case .shapeDoesNotFit: "Relationships of another shape"
        case .requiredValueMissing: "Required values that are missing"
        case .entityMismatch: "Records of another entity"
        case .unknownKind: "Kinds that the model does not know"
        case .contradictingName: "Records that contradict their names"
        case .contradictingRecords: "Records that contradict each other"
        case .conflictingKeys: "Keys that contradict each other"
        case .damage: "Damage"
        case .keyOfAnotherType: "Keys of another type"
        case .attributeNeverSeen: "Attributes never given"
        case .unresolvedReference: "References that wait for their rows"
        case .ambiguousName: "Ambiguous names"
        case .missingInverse: "Missing inverses"
        case .missingTransformer: "Transformers that nobody registered"
        case .leftOutOfExports: "Left out of exports"
        }
    }
}
