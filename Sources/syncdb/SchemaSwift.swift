import ArgumentParser
import Foundation
import Sync
import SyncTools

/// `syncdb schema swift`: a model as Swift types.
struct SchemaSwift: AsyncParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "swift",
        abstract: "Write a model as Swift types.",
        discussion: """
            Types with @Entity, of which SyncModel makes the same model again; or, with --records, types that need \
            nothing but GRDB to read and write the tables of a store.

            Example: syncdb schema swift --model App.xcdatamodeld --output Model.swift
            Example: syncdb schema swift -d app.sqlite --records --namespace Stored
            """)

    @OptionGroup(title: "Model") var source: ModelOrDatabase

    @Flag(help: "Write records of GRDB's, which need no Sync.")
    var records = false

    @Option(help: ArgumentHelp("Put the types in an enumeration of this name.", valueName: "name"))
    var namespace: String?

    @Option(
        help: ArgumentHelp("Where to write it. (default, and -: standard output)", valueName: "file"),
        completion: .file())
    var output: String?

    @OptionGroup(title: "Output") var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(files: source.model.map { [$0] } ?? [], database: source.database) }
    var busyTimeout: WaitingTime? { source.busyTimeout }

    func run() async throws {
        let written = SwiftSource(try source.loaded(), form: records ? .records : .macros, namespace: namespace)
        for remark in written.remarks { Terminal.writeError("note: \(remark)") }
        try await ExportDestination(output, besides: inputs).write { write in try write(Data(written.text.utf8)) }
    }
}
