import ArgumentParser
import Foundation
import Sync
import SyncTools

/// A command about a database that is kept in step with a service.
protocol EngineCommand: ReadingCommand {
    var location: DatabaseOptions { get }
    var service: EngineOptions { get }
}

extension EngineCommand {
    var inputs: CommandInputs {
        CommandInputs(files: [service.config] + (service.model.map { [$0] } ?? []), database: location.database)
    }

    var busyTimeout: WaitingTime? { location.busyTimeout }

    /// The store, made if it is not there.
    func stack() throws -> DataStack {
        if let model = service.model {
            let model = try SyncModel.file(model)
            do {
                return try DataStack(model: model, at: location.url, transformers: .optional)
            } catch let error as SyncError where error.code == .modelMismatch && !error.problems.isEmpty {
                // It is said by a command of its own.
                throw HintedError(error: error, hint: "'syncdb schema migrate --allow-loss' lets that go")
            }
        }
        guard try location.exists else {
            throw UsageError("there is no database '\(location.database)' yet: name its --model")
        }
        return try DataStack(at: location.url, transformers: .optional)
    }

    /// The engine of the database.
    ///
    /// - Parameters:
    ///   - makesRequests: Whether it will ask the service anything.
    ///   - adjust: Changes settings of the configuration.
    func engine(
        _ stack: DataStack, makesRequests: Bool = true, _ adjust: (inout EngineSettings) -> Void = { _ in }
    ) throws -> SyncEngine {
        let configuration = try service.configuration(makesRequests: makesRequests)
        var settings = configuration.settings
        adjust(&settings)
        let command = configuration.credentialCommand.map {
            CredentialCommand($0, configuration.credentialHeader, timeout: configuration.timeout)
        }
        let credentials = command?.credentials ?? .none
        return try SyncEngine(
            stack: stack, service: configuration.service(credentials: credentials), entities: configuration.entities,
            settings: settings)
    }
}
