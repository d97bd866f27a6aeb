import ArgumentParser
import Foundation
import Sync

/// What exported rows look like.
struct ExportFormOptions: ParsableArguments {
    @Option(
        name: .customLong("case"),
        help: ArgumentHelp(
            "How keys are spelled: first_name, firstName, FirstName, first-name, or as the attribute is called. "
                + "(default: as the model says, else snake)"))
    var keyCase: CaseArgument?

    @Option(
        help: ArgumentHelp(
            "What becomes of relationships: objects and arrays of them, nested attributes as Rails takes them "
                + "(notes_attributes), or nothing."))
    var relationships: RelationshipsArgument = .array

    @Option(
        help: ArgumentHelp(
            "How dates are written, as in yyyy-MM-dd. (default: as the model says, else ISO 8601, 2024-02-29T18:29:59Z)",
            valueName: "pattern"))
    var dateFormat: String?

    @Option(help: ArgumentHelp("The time zone of dates, as in Europe/Oslo. (default: UTC)", valueName: "name"))
    var timeZone: String?

    var options: ExportOptions {
        ExportOptions(
            keyCase: keyCase.flatMap { KeyCase(rawValue: $0.rawValue) }, relationships: relationships.relationships,
            dateFormat: dateFormat.map { .pattern($0) } ?? .attribute,
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
    case snake, camel, pascal, kebab, exact
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
