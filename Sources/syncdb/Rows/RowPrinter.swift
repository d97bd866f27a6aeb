import ArgumentParser
import Foundation
import Sync

/// Writes rows in one of the forms there are, as they come.
struct RowPrinter {
    /// What was asked for; nil for a table, or lines where its columns do not fit.
    let format: RowFormat?
    let style: Style
    /// How many columns a line of the terminal has that is written to; nil if it is none.
    let lineWidth: Int?
    let write: OutputFile.Write

    /// For standard output.
    init(_ format: RowFormat?, style: Style) {
        self.format = format
        self.style = style
        lineWidth = Terminal.Stream.output.isTerminal ? Terminal.width(of: .output) : nil
        let isForPeople = format?.isForPeople ?? true
        // A reader that has seen enough, as `head` has, is no failure.
        write = { data in
            guard try isForPeople ? Terminal.write(visible: data) : Terminal.write(json: data) else {
                throw ExitCode.success
            }
        }
    }

    /// For wherever an export goes.
    init(_ format: RowFormat, style: Style, write: @escaping OutputFile.Write) {
        self.format = format
        self.style = style
        lineWidth = nil
        self.write = write
    }

    /// Writes the rows of a query.
    func print(_ selection: RowSelection, of stack: DataStack) async throws {
        if format == .json || format == .ndjson { return try await printJSON(selection, of: stack) }
        let columns = selection.columns.map { RowColumn(title: $0.name, isNumeric: $0.type.isNumeric) }
        let types = selection.columns.map(\.type)
        try await print(columns) { append in
            try await stack.forEachRow(of: selection) { row in
                try append { text in
                    for column in types.indices {
                        text.add { ValueText.append(row, column, types[column], to: &$0) }
                    }
                }
            }
        }
    }

    /// Writes rows of text.
    ///
    /// - Parameter body: Is given what takes the next row, by a closure that adds its values.
    func print(
        _ columns: [RowColumn],
        _ body: (_ append: @escaping @Sendable ((inout TextRow) -> Void) throws -> Void) async throws -> Void
    ) async throws {
        let rows = Locked((writer(columns, RowOutput(write)), TextRow()))
        rows.withLock { $0.0.begin() }
        try await body { fill in
            try rows.withLock {
                $0.1.clear()
                fill(&$0.1)
                try $0.0.append($0.1)
            }
        }
        try rows.withLock { try $0.0.end() }
    }

    private func printJSON(_ selection: RowSelection, of stack: DataStack) async throws {
        let rows = Locked(JSONRowWriter(selection.columns, isArray: format == .json, RowOutput(write)))
        try await stack.forEachRow(of: selection) { row in try rows.withLock { try $0.append(row) } }
        try rows.withLock { try $0.end() }
    }

    private func writer(_ columns: [RowColumn], _ output: RowOutput) -> any TextRowWriter {
        switch format {
        case .csv: DelimitedWriter(columns: columns, delimiter: .comma, output: output)
        case .tsv: DelimitedWriter(columns: columns, delimiter: .tab, output: output)
        case .markdown: MarkdownWriter(columns: columns, output: output)
        case .vertical: VerticalWriter(columns, limit: valueLimit, style: style, output)
        case nil where !(lineWidth.map { TableWriter.fits(columns.count, in: $0) } ?? true):
            VerticalWriter(columns, limit: valueLimit, lineWidth: lineWidth, style: style, output)
        default: TableWriter(columns, lineWidth: lineWidth, style: style, output)
        }
    }

    private var valueLimit: Int? { lineWidth == nil ? nil : VisibleText.limit }
}

extension RowFormat {
    /// Whether people read it, so that it may not do anything to a terminal, wherever it goes.
    var isForPeople: Bool { [.table, .vertical, .markdown].contains(self) }
}
