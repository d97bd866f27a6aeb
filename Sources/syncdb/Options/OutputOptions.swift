import Foundation
import Sync

/// How a sync's result is printed.
struct OutputOptions {
    let result: ResultOptions
    let list: ListOptions
    let color: ColorOptions

    var json: Bool { result.json }
    var quiet: Bool { result.quiet }

    /// Prints a result, with a line per row or the summary alone.
    func show(_ result: SyncResult, of model: SyncModel, withRows: Bool) throws {
        guard !quiet else { return }
        guard !json else { return try Terminal.write(json: ResultJSON.text(result)) }
        let printer = ResultPrinter(result: result, model: model, limit: list.limit, style: color.style)
        let rows = withRows ? printer.rows : ""
        try Terminal.write((rows.isEmpty ? "" : rows + "\n\n") + printer.summary)
        for remark in printer.remarks { Terminal.writeError(remark) }
    }

    /// Reads all files, with a line that shows how far unpacking is where they are packed.
    ///
    /// - Parameter size: Larger files are read later, in pieces; nil to read all.
    func read(_ payload: PayloadOptions, wholeUpTo size: ByteCount? = nil) throws -> [Payload] {
        let display = ProgressDisplay(isQuiet: quiet)
        defer { display?.clear() }
        return try payload.read(wholeUpTo: size) { done, total in
            display?.show(
                ProgressLine(
                    label: total > 0 ? "unpacking" : "reading", unit: .bytes, completed: done,
                    total: total > 0 ? total : nil))
        }
    }

    /// Runs a sync with a line that shows how far it is, which is gone before anything else is printed.
    func withProgress(
        _ options: SyncOptions, _ sync: (SyncOptions) async throws -> SyncResult
    ) async throws -> SyncResult {
        let display = ProgressDisplay(isQuiet: quiet)
        defer { display?.clear() }
        var options = options
        if let display { options.progress = { display.show(ProgressLine($0)) } }
        return try await sync(options)
    }
}
