/// The texts of `--help` and `--print-config`.
package enum SettingsReport {
    package static func help(_ schema: SettingsSchema) -> String {
        var text = """
            \(schema.program): \(schema.summary)

            Every setting can be a flag (--name value or --name=value), an environment variable or a member of the
            settings file's section "\(schema.section)" (some also of "common"), in this order of precedence.

              --config FILE
                  The settings file (JSON). TOUCHSYNC_CONFIG
              --check-config
                  Check the settings, print "ok", end.
              --print-config
                  Print every setting's value and where it came from, end.
              --version
                  Print the version, end.
              --help
                  Print this, end.

            """
        for setting in schema.settings {
            let fallback = setting.shown(setting.fallbackValue)
            let variables = ([setting.environmentVariable] + setting.environmentAliases).joined(separator: ", ")
            text += """

                  \(setting.flag)
                      \(setting.meaning)
                      \(setting.allowed)\(fallback.isEmpty ? "" : "; default \(fallback)"). \(variables), "\(setting.fileKey)"
                """
        }
        return text + "\n"
    }

    /// One line per setting: `name = value  # source`, secrets masked.
    package static func effective(_ values: SettingValues) -> String {
        var text = ""
        for setting in values.schema.settings {
            guard let entry = values.entries[setting.name] else { continue }
            text += "\(setting.name) = \(setting.shown(entry.value))  # \(entry.source)\n"
        }
        return text
    }
}
