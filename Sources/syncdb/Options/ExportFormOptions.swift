import ArgumentParser
import Foundation
import Sync

/// What exported rows look like.
struct ExportFormOptions: ParsableArguments {
    @Option(name: .customLong("case"), help: "How keys are spelled: first_name or firstName.")
    var keyCase: CaseArgument = .snake

    @Option(
        help: ArgumentHelp(
            "What becomes of relationships: objects and arrays of them, nested attributes as Rails takes them "
                + "(notes_attributes), or nothing."))
    var relationships: RelationshipsArgument = .array

    @Option(
        help: ArgumentHelp(
            "How dates are written, as in yyyy-MM-dd. (default: ISO 8601, 2024-02-29T18:29:59Z)",
            valueName: "pattern"))
    var dateFormat: String?

    @Option(help: ArgumentHelp("The time zone of dates, as in Europe/Oslo. (default: UTC)", valueName: "name"))
    var timeZone: String?

    var options: ExportOptions {
        ExportOptions(
            keyCase: keyCase.keyCase, relationships: relationships.relationships,
            dateFormat: dateFormat.map { .pattern($0) } ?? .iso8601,
            timeZone: timeZone.flatMap(TimeZone.init(identifier:)) ?? .gmt)
    }

    func validate() throws {
        if let dateFormat, dateFormat.isEmpty { throw ValidationError("--date-format cannot be empty") }
        if let timeZone, TimeZone(identifier: timeZone) == nil {
            throw ValidationError("--time-zone '\(timeZone)' is unknown; names are such as Europe/Oslo or GMT+2")
        }
    }
}

/// `--case`.
enum CaseArgument: String, ExpressibleByArgument, CaseIterable {
    case snake, camel

    var keyCase: KeyCase { self == .snake ? .snake : .camel }
}

/// `--relationships`.
enum RelationshipsArgument: String, ExpressibleByArgument, CaseIterable {
    case array, nested, none

    var relationships: ExportOptions.Relationships {
        switch self {
        case .array: .array
        case .nested: .nested
        case .none: .none
        }
    }
}
