package server

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// roles is a set of roles; the zero value has none and may do nothing.
type roles uint8

// The roles of identities.
const (
	roleAdapter roles = 1 << iota
	roleOrchestrator
	roleExecutor
	roleOperator
	roleRawReader // adds to what others may; by itself it calls nothing
	// roleAnyone is not a role that can be given: every peer that TLS let in, listed or not.
	roleAnyone
)

// roleNames are the words of the identities file.
func roleNames() map[string]roles {
	return map[string]roles{
		"adapter": roleAdapter, "orchestrator": roleOrchestrator, "executor": roleExecutor, "operator": roleOperator, "raw_reader": roleRawReader,
	}
}

// lane says how a call is let in.
type lane uint8

// The lanes. The zero lane is the strictest.
const (
	laneJudged  lane = iota // counts as in flight; refused where there is no room
	laneWatch               // lasts; bounded by number
	laneProbe               // never refused: who is refused a probe takes the service for dead
	laneUnheard             // reads nothing
)

// right says who may call a method, and how such calls are let in.
type right struct {
	roles roles // one of them is enough
	lane  lane
}

// methodRights is the one table of who may call what, by full method name. A method
// without a row stops the start, see [checkRights].
func methodRights() map[string]right {
	return map[string]right{
		hallmarkv1.GateService_Validate_FullMethodName:  {roleAdapter | roleOrchestrator, laneJudged},
		hallmarkv1.GateService_Authorize_FullMethodName: {roleOrchestrator, laneJudged},
		hallmarkv1.GateService_Redeem_FullMethodName:    {roleExecutor, laneJudged},

		hallmarkv1.ContractService_ListContracts_FullMethodName: {roleOrchestrator | roleOperator, laneJudged},
		hallmarkv1.ContractService_GetContract_FullMethodName:   {roleOrchestrator | roleOperator, laneJudged},
		hallmarkv1.ContractService_GetKeys_FullMethodName:       {roleOrchestrator | roleOperator | roleExecutor, laneJudged},

		hallmarkv1.AuditService_GetEvent_FullMethodName:    {roleOperator, laneJudged},
		hallmarkv1.AuditService_ListEvents_FullMethodName:  {roleOperator, laneJudged},
		hallmarkv1.AuditService_WatchEvents_FullMethodName: {roleOperator, laneWatch},
		hallmarkv1.AuditService_GetOriginal_FullMethodName: {roleOperator, laneJudged},

		healthv1.Health_Check_FullMethodName: {roleAnyone, laneProbe},
		healthv1.Health_List_FullMethodName:  {roleAnyone, laneProbe},
		healthv1.Health_Watch_FullMethodName: {roleAnyone, laneWatch},

		reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName:      {roleAnyone, laneJudged},
		reflectionv1alpha.ServerReflection_ServerReflectionInfo_FullMethodName: {roleAnyone, laneJudged},

		unknownMethod: {roleAnyone, laneUnheard},
	}
}

// checkRights reports a registered method that the table does not know.
func checkRights(of map[string]grpc.ServiceInfo, rights map[string]right) error {
	for _, service := range slices.Sorted(maps.Keys(of)) {
		for _, m := range of[service].Methods {
			if r, ok := rights["/"+service+"/"+m.Name]; !ok || r.roles == 0 {
				return fmt.Errorf("server: nobody has said who may call %s of %s", m.Name, service)
			}
		}
	}
	return nil
}
