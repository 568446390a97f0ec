package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which build this is",
		Example: `  hallmark version
  hallmark version --output json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if out == "json" {
				return printObject(cmd.OutOrStdout(), versionLine{
					Version: buildVersion(), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(),
				})
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "hallmark %s %s/%s %s\n", buildVersion(), runtime.GOOS, runtime.GOARCH, runtime.Version())
			return err
		},
	}
	out.registerAs(cmd, "one object")
	return cmd
}

// versionLine is the build for programs. The names of its members are promised.
type versionLine struct {
	Version string `json:"version"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Go      string `json:"go"`
}

// buildVersion is the module's version, or the commit that was built.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	version := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (version == "" || version == "(devel)") {
			version = s.Value
		}
	}
	if version == "" {
		return "(devel)"
	}
	return version
}
